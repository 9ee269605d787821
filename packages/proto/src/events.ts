export * from "./gen/lapse/events/v1/activity_pb.ts";
export * from "./gen/lapse/events/v1/catalog_pb.ts";
export * from "./gen/lapse/events/v1/decision_pb.ts";
export * from "./gen/lapse/events/v1/expiry_pb.ts";
export * from "./gen/lapse/events/v1/policy_pb.ts";
