import type { StreamPosition } from "./sweep.ts";

/** The streams that decide when a table is due, in the order in which they are shown. */
export const FOLDED_STREAMS = ["ACTIVITY", "CATALOG", "POLICY"] as const;
export type FoldedStream = (typeof FOLDED_STREAMS)[number];

/** The last message of a stream at some moment. */
export interface StreamHead extends StreamPosition {
  readonly stream: FoldedStream;
  /** Which stream of that name: its numbers mean nothing in another. */
  readonly streamCreatedAt: Date;
}

/** How far a stream is folded; a null time: nothing of it is. */
export interface FoldedTo {
  readonly sequence: bigint;
  readonly streamCreatedAt: Date | null;
}

/** The first head that is not folded yet; undefined: all are, and everything up to them counts. */
export function firstBehind(
  heads: readonly StreamHead[],
  positions: ReadonlyMap<string, FoldedTo>,
): StreamHead | undefined {
  return heads.find((head) => !isReached(head, positions.get(head.stream)));
}

function isReached(head: StreamHead, position: FoldedTo | undefined): boolean {
  const folded = position?.streamCreatedAt ?? null;
  if (position === undefined || folded === null) {
    return head.sequence === 0n;
  }
  return folded.getTime() === head.streamCreatedAt.getTime() && position.sequence >= head.sequence;
}
