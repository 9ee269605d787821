export * from "./gen/lapse/evaluator/v1/lifecycle_evaluator_service_pb.ts";
