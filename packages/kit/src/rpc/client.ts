import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  Client,
  type ClientReadableStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { LapseError, unavailable } from "../errors.ts";
import type { Logger } from "../log.ts";
import { decode, encode, type Init, methodDefinition, methodName } from "./codec.ts";
import {
  AUTHORIZATION,
  checkIdempotencyKey,
  encodePrincipal,
  IDEMPOTENCY_KEY,
  ON_BEHALF_OF,
  TRACEPARENT,
} from "./metadata.ts";
import { fromStatus } from "./status.ts";
import type { CallContext, CallOptions, GrpcClient, ServiceDesc } from "./types.ts";

export interface GrpcClientSettings {
  /** `http://host:port` in the clear, `https://host:port` over TLS; all addresses of a name are used in turn. */
  readonly url: string;
  /** This service's own token, or what gives it as it is now. */
  readonly serviceToken: string | (() => string | Promise<string>);
  readonly log: Logger;
}

const DEADLINE_MS = 10_000;

const CHANNEL_OPTIONS = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // A service that restarts is found again within seconds; the library's own limit is two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2_000,
  "grpc.dns_min_time_between_resolutions_ms": 5_000,
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
};

/**
 * A client of one service of another process. A call waits for the connection until its deadline; a
 * call that was sent is never repeated by itself.
 */
export function createGrpcClient<S extends ServiceDesc>(
  desc: S,
  { url, serviceToken, log }: GrpcClientSettings,
): GrpcClient<S> {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === "https:";
  const target = `${hostname}:${port || (secure ? 443 : 80)}`;
  const channel = new Client(
    target,
    secure ? credentials.createSsl() : credentials.createInsecure(),
    CHANNEL_OPTIONS,
  );
  const peer: Peer = { channel, url, serviceToken, log };
  // GenService leaves out what DescService says of `method` only; the methods themselves are the same.
  const { methods } = desc as unknown as DescService;
  const calls = methods.map((method) => {
    const call = method.methodKind === "server_streaming" ? stream : unary;
    const bound = (request: Init, options: CallOptions = {}) =>
      call(peer, method, request, options);
    return [method.localName, bound] as const;
  });
  // Made from the descriptor that S describes, method by method.
  return Object.assign(Object.fromEntries(calls), {
    close: () => channel.close(),
  }) as unknown as GrpcClient<S>;
}

/** The options that make a call to another service part of answering this one. */
export function forwardFrom({
  principal,
  signal,
  deadline,
  traceparent,
}: CallContext): CallOptions {
  const acting = principal.kind === "service" ? {} : { principal };
  return { ...acting, signal, deadline, traceparent };
}

interface Peer extends GrpcClientSettings {
  readonly channel: Client;
}

async function unary(peer: Peer, method: DescMethod, request: Init, options: CallOptions) {
  const metadata = await callMetadata(peer, options);
  const { path, requestSerialize, responseDeserialize } = methodDefinition(method);
  const { deadlineMs = DEADLINE_MS, signal } = options;
  const deadline = earliest(new Date(Date.now() + deadlineMs), options.deadline);
  const bytes = encode(method.input, request);
  return new Promise((resolve, reject) => {
    const call = peer.channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      bytes,
      metadata,
      { deadline },
      (error, response) => {
        stopCancelling();
        if (error) reject(failure(peer, method, error));
        else resolve(decode(method.output, response ?? new Uint8Array()));
      },
    );
    const stopCancelling = cancelOn(signal, () => call.cancel());
  });
}

/** The call starts at the first read and is cancelled when the reader stops early. */
async function* stream(peer: Peer, method: DescMethod, request: Init, options: CallOptions) {
  const metadata = await callMetadata(peer, options);
  const { path, requestSerialize, responseDeserialize } = methodDefinition(method);
  const { deadlineMs = DEADLINE_MS, deadline, signal } = options;
  const call = peer.channel.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    encode(method.input, request),
    metadata,
    deadline ? { deadline } : {},
  );
  const stopCancelling = cancelOn(signal, () => call.cancel());
  const started = cancelUnlessStarted(call, deadlineMs);
  try {
    for await (const bytes of call) yield decode(method.output, bytes);
  } catch (error) {
    throw started.late() ? unreachable(peer, error) : failure(peer, method, error);
  } finally {
    stopCancelling();
    started.done();
    // Leaving the loop does not end a grpc-js call: the server would go on producing.
    call.cancel();
  }
}

function cancelUnlessStarted(call: ClientReadableStream<Buffer>, withinMs: number) {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    call.cancel();
  }, withinMs);
  const done = () => clearTimeout(timer);
  call.once("metadata", done);
  return { late: () => late, done };
}

async function callMetadata(peer: Peer, options: CallOptions): Promise<Metadata> {
  const { serviceToken } = peer;
  const token = typeof serviceToken === "string" ? serviceToken : await serviceToken();
  const { principal, traceparent } = options;
  const idempotencyKey = checkIdempotencyKey(options.idempotencyKey);
  const metadata = new Metadata({ waitForReady: true });
  metadata.set(AUTHORIZATION, `Bearer ${token}`);
  if (principal) metadata.set(ON_BEHALF_OF, encodePrincipal(principal));
  if (idempotencyKey) metadata.set(IDEMPOTENCY_KEY, idempotencyKey);
  if (traceparent) metadata.set(TRACEPARENT, traceparent);
  return metadata;
}

function cancelOn(signal: AbortSignal | undefined, cancel: () => void): () => void {
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  return () => signal?.removeEventListener("abort", cancel);
}

const earliest = (a: Date, b: Date | undefined): Date => (b && b < a ? b : a);

function failure(peer: Peer, method: DescMethod, thrown: unknown): LapseError {
  if (thrown instanceof LapseError) return thrown;
  const error = thrown as ServiceError;
  const connected = peer.channel.getChannel().getConnectivityState(false);
  const waited = error.code === status.DEADLINE_EXCEEDED && connected !== connectivityState.READY;
  const failed = waited ? unreachable(peer, error) : fromStatus(error);
  peer.log.debug({ method: methodName(method), reason: failed.reason }, "call to a peer failed");
  return failed;
}

const unreachable = ({ url }: Peer, cause: unknown): LapseError =>
  unavailable("PEER_UNREACHABLE", `${url} cannot be reached at the moment; repeat the call`, {
    cause,
  });
