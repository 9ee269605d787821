export * from "./api-keys.ts";
export * from "./ask-catalog.ts";
export * from "./auth.ts";
export * from "./clock.ts";
export * from "./clock-fault.ts";
export * from "./clock-guard.ts";
export type { EventAttributes } from "./cloud-events.ts";
export { decodeMessage, encodeHeaders } from "./cloud-events.ts";
export * from "./consumer.ts";
export type { Handle, HandlerResult } from "./consumer-verdict.ts";
export * from "./database-service.ts";
export type { Delivery } from "./delivery.ts";
export type { Headers } from "./delivery-headers.ts";
export {
  ensureStream,
  ensureStreams,
  findStream,
  type StreamSettings,
  withStream,
} from "./ensure-streams.ts";
export * from "./errors.ts";
export { isJsonBody, JSON_TYPE, PROTOBUF, parseJsonBody } from "./event-body.ts";
export {
  isConnectionLoss,
  isLostRace,
  sqlState,
  violatedConstraint,
} from "./failure.ts";
export type { FoldPosition, Loss } from "./fold-loss.ts";
export * from "./gap-healer.ts";
export * from "./idempotency.ts";
export * from "./ids.ts";
export * from "./inbox.ts";
export * from "./lease.ts";
export * from "./log.ts";
export * from "./metrics.ts";
export * from "./migrate.ts";
export * from "./nats.ts";
export * from "./notify.ts";
export * from "./operations.ts";
export * from "./ordered-fold.ts";
export * from "./outbox.ts";
export * from "./outbox-relay.ts";
export * from "./outbox-service.ts";
export type { ParkedPart } from "./park.ts";
export * from "./parking.ts";
export * from "./periodic.ts";
export * from "./postgres.ts";
export * from "./principal.ts";
export * from "./problem.ts";
export * from "./readiness.ts";
export * from "./refusal.ts";
export * from "./rights.ts";
export { createGrpcClient, forwardFrom, type GrpcClientSettings } from "./rpc/client.ts";
export { createGrpcServer, type GrpcServer, type GrpcServerSettings } from "./rpc/server.ts";
export { codeOf, fromStatus, toStatus } from "./rpc/status.ts";
export type {
  CallContext,
  CallOptions,
  GrpcClient,
  Handlers,
  ServiceDesc,
} from "./rpc/types.ts";
export * from "./service.ts";
export * from "./services-only.ts";
export { describeSettings } from "./settings/describe.ts";
export { type LoadOptions, loadSettings, type Settings } from "./settings/load.ts";
export { settingsReference } from "./settings/reference.ts";
export type { RequiredName } from "./settings/requirements.ts";
export { rotatingSecret, type SecretSource } from "./settings/secret-file.ts";
export * from "./stoppable.ts";
export * from "./streams.ts";
export * from "./subjects.ts";
export * from "./trace.ts";
export * from "./transaction.ts";
export type { Verified } from "./verified-tokens.ts";
