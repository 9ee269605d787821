import { once } from "node:events";
import type { DescMethod } from "@bufbuild/protobuf";
import { type handleServerStreamingCall, type handleUnaryCall, Metadata } from "@grpc/grpc-js";
import { decodeRequest, encode, type Init } from "./codec.ts";
import { type ServeDeps, servedCall } from "./served-call.ts";
import { toStatus } from "./status.ts";
import type { CallContext } from "./types.ts";

/** Answers a unary method. Everything the handler throws becomes a status of ours. */
export function serveUnary(
  method: DescMethod,
  handle: (request: never, context: CallContext) => Promise<Init>,
  deps: ServeDeps,
): handleUnaryCall<Buffer, Buffer> {
  return (call, done) => {
    const served = servedCall(call, method, deps);
    const run = async () => {
      const context = await served.identify();
      const request = decodeRequest(method.input, call.request);
      return encode(method.output, await handle(request as never, context));
    };
    run().then(
      (response) => {
        served.succeeded();
        done(null, response);
      },
      (thrown: unknown) => done(toStatus(served.failed(thrown))),
    );
  };
}

/**
 * Answers a server-streaming method: no message is produced before there is room for it, and the
 * handler's generator is closed when the caller leaves or the server stops.
 */
export function serveStream(
  method: DescMethod,
  handle: (request: never, context: CallContext) => AsyncIterable<Init>,
  deps: ServeDeps,
): handleServerStreamingCall<Buffer, Buffer> {
  return (call) => {
    const served = servedCall(call, method, deps);
    const letStop = served.endOnStop();
    const run = async () => {
      const context = await served.identify();
      const { signal } = context;
      const request = decodeRequest(method.input, call.request);
      // The client takes the stream for started when this arrives, before the first message.
      call.sendMetadata(new Metadata());
      for await (const message of handle(request as never, context)) {
        if (signal.aborted) break;
        if (!call.write(encode(method.output, message))) await once(call, "drain", { signal });
      }
      signal.throwIfAborted();
    };
    run()
      .then(
        () => {
          served.succeeded();
          call.end();
        },
        // Not destroy(): with it the status and the messages before it would be lost.
        (thrown: unknown) => call.emit("error", toStatus(served.failed(thrown))),
      )
      .finally(letStop);
  };
}
