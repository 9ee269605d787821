import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";
import { invalid } from "../errors.ts";

/** What `create()` accepts for some message. */
export type Init = Record<string, unknown>;

/** `lapse.catalog.v1.CatalogService/GetTable`. */
export const methodName = (method: DescMethod): string =>
  `${method.parent.typeName}/${method.name}`;

export const encode = (desc: DescMessage, init: Init): Buffer =>
  Buffer.from(toBinary(desc, create(desc, init)));

export const decode = (desc: DescMessage, bytes: Uint8Array): Message => fromBinary(desc, bytes);

/** @throws invalid `REQUEST_MALFORMED` when the bytes are no such message. */
export function decodeRequest(desc: DescMessage, bytes: Uint8Array): Message {
  try {
    return decode(desc, bytes);
  } catch (cause) {
    throw invalid("REQUEST_MALFORMED", `the request is not a ${desc.typeName}`, { cause });
  }
}

const asBuffer = (bytes: Buffer): Buffer => bytes;

/** One method to grpc-js, in bytes: coding is the adapter's, so that its faults get a status of ours. */
export const methodDefinition = (method: DescMethod): MethodDefinition<Buffer, Buffer> => ({
  path: `/${methodName(method)}`,
  requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
  responseStream:
    method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
  requestSerialize: asBuffer,
  requestDeserialize: asBuffer,
  responseSerialize: asBuffer,
  responseDeserialize: asBuffer,
});
