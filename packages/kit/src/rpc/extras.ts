import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { Server } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation } from "grpc-health-check";
import type { ServiceDesc } from "./types.ts";

/** Adds `grpc.reflection`, so that tools find the methods; it needs no credential. */
export function addReflection(server: Server, services: readonly ServiceDesc[]): void {
  const files = new Map<string, DescFile>();
  for (const service of services) collect(service.file, files);
  const set = create(FileDescriptorSetSchema, {
    file: [...files.values()].map(({ proto }) => proto),
  });
  const bytes = Buffer.from(toBinary(FileDescriptorSetSchema, set));
  new ReflectionService(loadFileDescriptorSetFromBuffer(bytes)).addToServer(server);
}

function collect(file: DescFile, into: Map<string, DescFile>): void {
  if (into.has(file.name)) return;
  for (const dependency of file.dependencies) collect(dependency, into);
  into.set(file.name, file);
}

/** Adds `grpc.health.v1`, for the server ("") and each service; NOT_SERVING until set otherwise. */
export function addHealth(
  server: Server,
  services: readonly ServiceDesc[],
): (serving: boolean) => void {
  const names = ["", ...services.map(({ typeName }) => typeName)];
  const health = new HealthImplementation(
    Object.fromEntries(names.map((name) => [name, "NOT_SERVING" as const])),
  );
  health.addToServer(server);
  return (serving) => {
    for (const name of names) health.setStatus(name, serving ? "SERVING" : "NOT_SERVING");
  };
}
