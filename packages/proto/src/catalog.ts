export * from "./gen/lapse/catalog/v1/access_service_pb.ts";
export * from "./gen/lapse/catalog/v1/catalog_service_pb.ts";
