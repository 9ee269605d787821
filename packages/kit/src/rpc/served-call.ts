import type { DescMethod } from "@bufbuild/protobuf";
import { type ServerUnaryCall, type ServerWritableStream, status } from "@grpc/grpc-js";
import type { Histogram } from "prom-client";
import type { Authenticate } from "../auth.ts";
import { LapseError, toLapseError, unavailable } from "../errors.ts";
import type { Logger } from "../log.ts";
import { continueTrace, traceId } from "../trace.ts";
import { methodName } from "./codec.ts";
import {
  checkIdempotencyKey,
  IDEMPOTENCY_KEY,
  identify,
  TRACEPARENT,
  textHeader,
} from "./metadata.ts";
import { codeOf } from "./status.ts";
import type { CallContext } from "./types.ts";

export interface ServeDeps {
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly seconds: Histogram<"method" | "code">;
  /** Aborted when the server stops: streams end then, unary calls are let finish. */
  readonly stopping: AbortSignal;
}

/** The life of one call: who it is from, whether it is still wanted, and what became of it. */
export interface ServedCall {
  /** @throws unauthenticated, denied or invalid when the metadata does not allow the call. */
  identify(): Promise<CallContext>;
  /** Aborts the call when the server stops. Returns how to undo that, for when the call has ended. */
  endOnStop(): () => void;
  succeeded(): void;
  /** Any thrown thing as what the caller is told. */
  failed(thrown: unknown): LapseError;
}

export function servedCall(
  call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
  desc: DescMethod,
  { authenticate, seconds, stopping, ...deps }: ServeDeps,
): ServedCall {
  const method = methodName(desc);
  const startedAt = performance.now();
  const cancel = new AbortController();
  const traceparent = continueTrace(textHeader(call.metadata, TRACEPARENT));
  const deadline = Number(call.getDeadline());
  let log = deps.log.child({ method, trace_id: traceId(traceparent) });
  let ended = false;
  // grpc-js says "cancelled" at the end of every call, also of one that went well.
  call.once("cancelled", () => {
    if (!ended) cancel.abort();
  });

  const end = (code: string) => {
    ended = true;
    const elapsed = (performance.now() - startedAt) / 1_000;
    seconds.observe({ method, code }, elapsed);
    return { code, ms: Math.round(elapsed * 1_000) };
  };
  const cancelledCode = () => (Date.now() >= deadline ? "DEADLINE_EXCEEDED" : "CANCELLED");

  return {
    async identify() {
      const { caller, principal } = await identify(call.metadata, authenticate);
      const { subject } = principal;
      log = log.child(caller === principal ? { subject } : { subject, caller: caller.subject });
      return {
        principal,
        caller,
        signal: cancel.signal,
        deadline: Number.isFinite(deadline) ? new Date(deadline) : undefined,
        metadata: call.metadata,
        idempotencyKey: checkIdempotencyKey(textHeader(call.metadata, IDEMPOTENCY_KEY)),
        traceparent,
        method,
        requestBytes: call.request,
        log,
      };
    },
    endOnStop() {
      const abort = () => cancel.abort(shuttingDown());
      if (stopping.aborted) abort();
      stopping.addEventListener("abort", abort, { once: true });
      return () => stopping.removeEventListener("abort", abort);
    },
    succeeded() {
      log.debug(end(call.cancelled ? cancelledCode() : "OK"), "call");
    },
    failed(thrown) {
      const { reason } = cancel.signal;
      const error = reason instanceof LapseError ? reason : toLapseError(thrown);
      const code = call.cancelled ? cancelledCode() : (status[codeOf(error.kind)] ?? "UNKNOWN");
      const fields = { ...end(code), reason: error.reason };
      const level = levelOf(code);
      if (level === "info") log.info({ ...fields, why: error.message }, "call refused");
      else log[level]({ ...fields, err: error }, "call failed");
      return error;
    },
  };
}

const shuttingDown = (): LapseError =>
  unavailable("SHUTTING_DOWN", "the service is restarting; repeat the call");

/** error: someone must look; warn: it will be repeated; info: the caller's own doing. */
function levelOf(code: string): "error" | "warn" | "info" {
  if (code === "INTERNAL") return "error";
  return ["UNAVAILABLE", "ABORTED", "RESOURCE_EXHAUSTED"].includes(code) ? "warn" : "info";
}
