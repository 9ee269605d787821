import {
  type Duration,
  durationMs,
  numberOrText,
  parseDays,
  parseDuration,
  REAL_DAY,
} from "@lapse/rules";
import { InvalidArgumentError } from "commander";

/** Reads a count of days; a date or a duration is told apart by the message (T10). */
export function daysArgument(text: string): number {
  const parsed = parseDays(numberOrText(text));
  if (parsed.ok) return parsed.value;
  throw new InvalidArgumentError(parsed.fault.message);
}

/** Reads a window such as `7d` or `36h` as retention days, possibly broken. */
export function windowArgument(text: string): number {
  const parsed = parseDuration(text, "d");
  if (!parsed.ok) throw new InvalidArgumentError(parsed.fault.message);
  return inDays(parsed.value);
}

export function limitArgument(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidArgumentError("Give a whole number from 1 on.");
}

/** An instant as RFC 3339 writes it, with its offset: without one its meaning would depend on the machine. */
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})$/;

export function instantArgument(text: string): Date {
  const at = INSTANT.test(text) ? new Date(text) : null;
  if (at && !Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError("Give an instant with its offset, e.g. 2026-11-30T00:00:00Z.");
}

/** Reads one more value of an option that may be given several times. */
export const severalArgument = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  text,
];

/** Real time in a window counts against a real day. */
function inDays(duration: Duration): number {
  return durationMs(duration, REAL_DAY) / 86_400_000;
}
