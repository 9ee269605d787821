import type { Json } from "./decision.ts";

/**
 * The one way to write a JSON value (that of RFC 8785): no spaces, keys in the order of their UTF-16 code
 * units, numbers and strings as ECMAScript writes them. Equal values give equal text, on any machine and
 * after a round trip through a `jsonb` column.
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value);
  }
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) {
      text += `${text === "" ? "" : ","}${canonicalJson(item)}`;
    }
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const member = value[key] ?? null;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
