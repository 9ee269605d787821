/** A clock that cannot be right, or that nobody looked at for long. */
export interface ClockFault {
  /** Earlier than at the last look, or later than time can have passed. */
  readonly kind: "behind" | "ahead";
  readonly last: Date;
  readonly now: Date;
}

const HOUR_MS = 3_600_000;

/**
 * What is wrong with a clock that said `last` at one look and `now` at the next (rule 6 of the architecture):
 * it went back, or on by more than two intervals and an hour. Null: nothing, which a first look (null) always is.
 */
export function clockFault({
  last,
  now,
  intervalMs,
}: {
  readonly last: Date | null;
  readonly now: Date;
  /** How far apart the runs are that go by this clock. */
  readonly intervalMs: number;
}): ClockFault | null {
  if (last === null) {
    return null;
  }
  const passedMs = now.getTime() - last.getTime();
  if (passedMs < 0) {
    return { kind: "behind", last, now };
  }
  return passedMs > 2 * intervalMs + HOUR_MS ? { kind: "ahead", last, now } : null;
}

/** The fault in a sentence for operators: which of the two, by how much, and what to do. */
export function describeClockFault({ kind, last, now }: ClockFault): string {
  const by = inWords(Math.abs(now.getTime() - last.getTime()));
  const readings = `${last.toISOString()} at the last look, ${now.toISOString()} at this one`;
  return kind === "behind"
    ? `the clock of the database went back by ${by} (${readings}); set it right, then confirm that it is`
    : `the clock of the database went on by ${by} between two looks (${readings}): it leapt ahead, or Lapse was stopped for that long; see which it was, set the clock right if need be, then confirm that it is`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", HOUR_MS],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** `3 d 4 h`: the two largest units that are not zero. */
function inWords(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const [unit, length] of UNITS) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) {
      parts.push(`${count} ${unit}`);
    }
  }
  return parts.slice(0, 2).join(" ");
}
