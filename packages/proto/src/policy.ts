export * from "./gen/lapse/policy/v1/retention_policy_service_pb.ts";
