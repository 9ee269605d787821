import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { invalid, isId, type LapseError } from "@lapse/kit";
import { EARLIEST_MS, LATEST_MS } from "../domain/event-time.ts";

const MAX_VERSION = 2n ** 63n - 1n;

/**
 * An event that can be decoded and says something that cannot be. Whoever repairs it must know what is
 * wrong.
 */
export function unusable(what: string): LapseError {
  return invalid("EVENT_UNUSABLE", `the event cannot be used: ${what}`);
}

/** An id in the one form it is stored in. @throws invalid `EVENT_UNUSABLE`, as all below. */
export function idField(value: string, field: string): string {
  if (!isId(value)) {
    throw unusable(`${field} is not an id`);
  }
  return value.toLowerCase();
}

/** A text that PostgreSQL can hold. */
export function textField(value: string, field: string): string {
  if (value.includes("\0")) {
    throw unusable(`${field} holds a NUL character`);
  }
  return value;
}

/** A version that was given out: from 1 to what a bigint holds. */
export function versionField(value: bigint, field: string): bigint {
  if (value < 1n || value > MAX_VERSION) {
    throw unusable(`${field} is ${value}`);
  }
  return value;
}

/** A time that must be there. */
export function timeField(value: Timestamp | undefined, field: string): Date {
  const time = optionalTimeField(value, field);
  if (time === null) {
    throw unusable(`${field} is missing`);
  }
  return time;
}

/** A time that may be missing. */
export function optionalTimeField(value: Timestamp | undefined, field: string): Date | null {
  if (value === undefined) {
    return null;
  }
  const ms = Number(value.seconds) * 1000;
  if (ms < EARLIEST_MS || ms > LATEST_MS) {
    throw unusable(`${field} is outside of the years 1 to 9999`);
  }
  return timestampDate(value);
}

/** A message that must be there. */
export function messageField<T>(value: T | undefined, field: string): T {
  if (value === undefined) {
    throw unusable(`${field} is missing`);
  }
  return value;
}
