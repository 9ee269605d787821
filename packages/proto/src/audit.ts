export * from "./gen/lapse/audit/v1/audit_service_pb.ts";
