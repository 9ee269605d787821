import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Metadata } from "@grpc/grpc-js";
import type { Logger } from "../log.ts";
import type { Principal } from "../principal.ts";

/** A service as the code generator describes it. */
export type ServiceDesc = GenService<GenServiceMethods>;

/** What a handler knows of the call it answers. */
export interface CallContext {
  /** For whom the call is: the caller, or whom a calling service names as the one it acts for. */
  readonly principal: Principal;
  /** Who called: the holder of the token. */
  readonly caller: Principal;
  /** Aborted when the caller gives up or its deadline passes; for a stream, also when the server stops. */
  readonly signal: AbortSignal;
  readonly deadline: Date | undefined;
  readonly metadata: Metadata;
  readonly idempotencyKey: string | undefined;
  /** The caller's W3C trace, or a new one. */
  readonly traceparent: string;
  /** `lapse.catalog.v1.CatalogService/GetTable`. */
  readonly method: string;
  /** The request as it came, to compare repeats of an idempotent call by. */
  readonly requestBytes: Uint8Array;
  /** Carries method, subject and trace id. */
  readonly log: Logger;
}

/** One function per method: unary gives a promise, server streaming an async iterable. */
export type Handlers<S extends ServiceDesc> = HandlersOf<S["method"]>;

type HandlersOf<M extends GenServiceMethods> = {
  readonly [K in keyof M]: (
    request: MessageShape<M[K]["input"]>,
    context: CallContext,
  ) => M[K]["methodKind"] extends "server_streaming"
    ? AsyncIterable<MessageInitShape<M[K]["output"]>>
    : Promise<MessageInitShape<M[K]["output"]>>;
};

export interface CallOptions {
  /** Whom this service acts for; left out, it acts for itself. */
  readonly principal?: Principal | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the answer may take, 10 s unless given, waiting for a connection included. For a stream:
   * how long its start may take.
   */
  readonly deadlineMs?: number | undefined;
  /** When to give up at the latest, a stream too. */
  readonly deadline?: Date | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** One function per method; every failure is a LapseError with the kind and reason the service gave. */
export type GrpcClient<S extends ServiceDesc> = ClientOf<S["method"]> & {
  /** Ends the connection; calls under way fail. */
  close(): void;
};

type ClientOf<M extends GenServiceMethods> = {
  readonly [K in keyof M]: (
    request: MessageInitShape<M[K]["input"]>,
    options?: CallOptions,
  ) => M[K]["methodKind"] extends "server_streaming"
    ? AsyncIterable<MessageShape<M[K]["output"]>>
    : Promise<MessageShape<M[K]["output"]>>;
};
