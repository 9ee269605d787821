import { internal } from "@lapse/kit";

/** A part of a service's answer that is always there by the contract between them; its absence is a fault of ours. */
export function required<T>(value: T | undefined, what: string): T {
  if (value !== undefined) return value;
  throw internal(new TypeError(`a service answered without the ${what}`));
}
