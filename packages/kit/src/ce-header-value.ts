import { invalid } from "./errors.ts";

const AS_IS = /^[\x21\x23\x24\x26-\x7e]*$/;

/**
 * An attribute value as a header value of the CloudEvents NATS binding: a space, `"`, `%` and everything
 * outside U+0021 to U+007E is percent-encoded as UTF-8, upper-case.
 */
export function encodeHeaderValue(value: string): string {
  if (AS_IS.test(value)) return value;
  return Array.from(new TextEncoder().encode(value), (byte) => {
    const char = String.fromCharCode(byte);
    return AS_IS.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/**
 * The value a header stands for: first the double quotes around it are undone, then it is decoded once.
 * A `%` that starts no escape stands for itself.
 *
 * @throws invalid `EVENT_UNREADABLE` when the bytes are not UTF-8.
 */
export function decodeHeaderValue(header: string): string {
  const quoted = header.startsWith('"') && header.endsWith('"') && header.length > 1;
  const value = quoted ? header.slice(1, -1).replace(/\\(.)/gs, "$1") : header;
  if (!value.includes("%")) return value;
  const bytes: number[] = [];
  for (const part of value.split(/(%[0-9A-Fa-f]{2})/)) {
    if (/^%[0-9A-Fa-f]{2}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 16));
    else bytes.push(...new TextEncoder().encode(part));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(bytes),
    );
  } catch (cause) {
    throw invalid("EVENT_UNREADABLE", "a header holds percent-encoded bytes that are not UTF-8", {
      cause,
    });
  }
}
