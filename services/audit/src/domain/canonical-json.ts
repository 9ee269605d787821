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
  if (Array.isArray(value)) {
    return `[${value.map(canonicalJson).join(",")}]`;
  }
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
