import type { Delivery, ParkedPart, Queryable } from "@lapse/kit";
import type { FoldedStream } from "../domain/fence.ts";

/** A message of a stream, read. */
export interface ReadMessage<M> {
  readonly delivery: Delivery;
  readonly message: M;
}

/** A delivery that cannot count, or not wholly, and why. */
export interface Refusal {
  readonly delivery: Delivery;
  readonly reason: string;
  /** Which part of it; the whole, unless given. */
  readonly part?: ParkedPart | undefined;
}

/** What became of a batch. */
export interface Applied {
  /** To be put aside. */
  readonly refused: readonly Refusal[];
  /** Counts in the metrics what was done, once it is committed. */
  count(): void;
}

/** How the messages of one stream are folded. */
export interface StreamFold<M> {
  readonly stream: FoldedStream;
  /** Whose numbering must have no gap (`ce-source`); null: anybody publishes here. */
  readonly source: string | null;
  /** The message, or null where it is of no concern. @throws invalid for one that can never be read */
  read(delivery: Delivery): M | null;
  /** Applies messages, in any order and as often as they come. */
  apply(tx: Queryable, messages: readonly ReadMessage<M>[]): Promise<Applied>;
}
