export * from "./gen/lapse/common/v1/outbox_service_pb.ts";
export * from "./gen/lapse/common/v1/principal_pb.ts";
