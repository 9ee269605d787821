import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalid, type LapseError } from "./errors.ts";
import { JSON_TYPE } from "./event-body.ts";

/** A CloudEvent in the JSON event format, taken apart. */
export interface StructuredEvent {
  readonly attributes: JsonObject;
  readonly body: { readonly bytes: Uint8Array; readonly contentType: string };
}

/** The envelope in `json`; undefined: it is not a CloudEvent. */
export function readStructured(json: JsonValue): StructuredEvent | undefined {
  return isEnvelope(json) ? { attributes: json, body: bodyOf(json) } : undefined;
}

/** @throws invalid `EVENT_UNREADABLE` when `json` is not a CloudEvent. */
export function structuredEvent(json: JsonValue): StructuredEvent {
  const event = readStructured(json);
  if (!event) throw unreadable("it lacks specversion, id, type or source");
  return event;
}

function isEnvelope(json: JsonValue): json is JsonObject {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  return ["specversion", "id", "type", "source"].every((name) => typeof json[name] === "string");
}

function bodyOf(envelope: JsonObject): StructuredEvent["body"] {
  const { data, data_base64: base64, datacontenttype } = envelope;
  const contentType = typeof datacontenttype === "string" ? datacontenttype : undefined;
  if (base64 !== undefined && base64 !== null) {
    if (typeof base64 !== "string" || !isBase64(base64))
      throw unreadable("data_base64 is not base64");
    return { bytes: new Uint8Array(Buffer.from(base64, "base64")), contentType: contentType ?? "" };
  }
  const encoder = new TextEncoder();
  if (data === undefined || data === null) {
    return { bytes: new Uint8Array(), contentType: contentType ?? "" };
  }
  if (typeof data === "string" && contentType !== undefined && !/json\b/i.test(contentType)) {
    return { bytes: encoder.encode(data), contentType };
  }
  return { bytes: encoder.encode(JSON.stringify(data)), contentType: contentType ?? JSON_TYPE };
}

/** Node's decoder skips what it does not know, so a damaged body would be read as another one. */
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const unreadable = (why: string): LapseError =>
  invalid("EVENT_UNREADABLE", `the body is no CloudEvent in JSON: ${why}`);
