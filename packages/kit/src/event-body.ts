import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { invalid } from "./errors.ts";

export const PROTOBUF = "application/protobuf";
export const JSON_TYPE = "application/json";

const IS_PROTOBUF = /^application\/(x-|vnd\.google\.)?protobuf\b/i;
const IS_JSON = /^(application|text)\/([\w.+-]+\+)?json\b/i;
const OPENING_BRACE = 0x7b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Whether a body is JSON: by its content type where that says so, else by its first byte. `{` can start no
 * protobuf message of ours (it would open a group), and neither can a byte order mark.
 */
export function isJsonBody(body: Uint8Array, contentType: string): boolean {
  if (IS_JSON.test(contentType)) return true;
  if (IS_PROTOBUF.test(contentType)) return false;
  const marked = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte);
  return body[marked ? 3 : 0] === OPENING_BRACE;
}

/** @throws invalid `EVENT_UNREADABLE` when the body is not JSON in UTF-8. */
export function parseJsonBody(body: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as JsonValue;
  } catch (cause) {
    throw unreadable("JSON", cause);
  }
}

/**
 * A body as a message: protobuf, or the protobuf JSON mapping, where unknown fields are passed over.
 *
 * @throws invalid `EVENT_UNREADABLE`
 */
export function decodeBody<Desc extends DescMessage>(
  schema: Desc,
  body: Uint8Array,
  contentType: string,
): MessageShape<Desc> {
  if (isJsonBody(body, contentType)) {
    const json = parseJsonBody(body);
    try {
      return fromJson(schema, json, { ignoreUnknownFields: true });
    } catch (cause) {
      throw unreadable(schema.typeName, cause);
    }
  }
  try {
    return fromBinary(schema, body);
  } catch (cause) {
    throw unreadable(schema.typeName, cause);
  }
}

function unreadable(what: string, cause: unknown) {
  const why = cause instanceof Error ? cause.message : String(cause);
  return invalid("EVENT_UNREADABLE", `the body of the event is no ${what}: ${why}`, { cause });
}
