import type { StreamInfo } from "nats";

/** How far a fold is. */
export interface FoldPosition {
  /** The last message folded; 0 when none is. */
  readonly sequence: bigint;
  /** When the stream was made that it is a number in; null before the first batch. */
  readonly streamCreatedAt: Date | null;
}

/** Messages that are gone before they could be folded. */
export interface Loss {
  /**
   * - `stream_recreated`: the stream is another one of the same name
   * - `stream_truncated`: the stream ends before the position, as after a restore
   * - `messages_gone`: messages after the position were deleted or aged out
   */
  readonly kind: "stream_recreated" | "stream_truncated" | "messages_gone";
  readonly stream: string;
  /** Which are known to be gone; how many a replaced stream had is not known. */
  readonly missing: { readonly from: bigint; readonly to: bigint } | undefined;
  /** Where to go on. */
  readonly resumeAt: { readonly sequence: bigint; readonly streamCreatedAt: Date };
}

/** What a fold at `position` has lost for good, by the state of its stream; undefined: nothing. */
export function lossOf(
  position: FoldPosition,
  { config, created, state }: StreamInfo,
): Loss | undefined {
  const streamCreatedAt = new Date(created);
  const before = BigInt(Math.max(0, state.first_seq - 1));
  const last = BigInt(state.last_seq);
  const lost = (kind: Loss["kind"], sequence: bigint, missing?: Loss["missing"]): Loss => ({
    kind,
    stream: config.name,
    missing,
    resumeAt: { sequence, streamCreatedAt },
  });
  const known = position.streamCreatedAt;
  const other = known ? known.getTime() !== streamCreatedAt.getTime() : position.sequence > 0n;
  if (other) return lost("stream_recreated", before);
  if (last < position.sequence) return lost("stream_truncated", last);
  if (before <= position.sequence) return undefined;
  return lost("messages_gone", before, { from: position.sequence + 1n, to: before });
}
