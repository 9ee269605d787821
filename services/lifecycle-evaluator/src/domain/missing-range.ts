/** Numbers of one publisher and stream that have not come, both ends included. */
export interface MissingRange {
  readonly source: string;
  readonly stream: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** How many numbers are missing, by stream. */
export function countMissing(ranges: readonly MissingRange[]): ReadonlyMap<string, bigint> {
  const counts = new Map<string, bigint>();
  for (const { stream, from, to } of ranges) {
    counts.set(stream, (counts.get(stream) ?? 0n) + to - from + 1n);
  }
  return counts;
}

/** Whether any number that was missing `before` is missing still. */
export function anyStillMissing(
  before: readonly MissingRange[],
  now: readonly MissingRange[],
): boolean {
  return before.some((then) =>
    now.some(
      ({ source, stream, from, to }) =>
        source === then.source && stream === then.stream && from <= then.to && to >= then.from,
    ),
  );
}
