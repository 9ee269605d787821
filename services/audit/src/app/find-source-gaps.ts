import { lostRanges, type MissingRange, missingRanges, type Queryable } from "@lapse/kit";

/** Decisions of a source that have not arrived, by their numbers there, both ends included. */
export interface SourceGap {
  readonly source: string;
  readonly fromSequence: bigint;
  readonly toSequence: bigint;
}

/** What sources have sent and the log does not have: on its way, being asked for again, or gone for good. */
export async function findSourceGaps(db: Queryable): Promise<SourceGap[]> {
  const missing = await missingRanges(db);
  const lost = await lostRanges(db);
  return [...missing, ...lost].map(toGap);
}

/** How many decisions the gaps stand for. */
export function gapSize(gaps: readonly SourceGap[]): bigint {
  return gaps.reduce(
    (sum, { fromSequence, toSequence }) => sum + toSequence - fromSequence + 1n,
    0n,
  );
}

function toGap({ source, from, to }: MissingRange): SourceGap {
  return { source, fromSequence: from, toSequence: to };
}
