export * from "./gen/google/rpc/error_details_pb.ts";
export * from "./gen/google/rpc/status_pb.ts";
