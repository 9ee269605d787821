import { conflict, type Queryable } from "@lapse/kit";

/** How far a stream is folded. */
export interface StoredPosition {
  readonly sequence: bigint;
  /** Which stream of that name it is a number in; null: nothing of it is folded yet. */
  readonly streamCreatedAt: Date | null;
}

interface PositionRow extends Record<string, unknown> {
  stream: string;
  sequence: bigint;
  stream_created_at: Date;
}

/** The position of a stream; 0 before its first message. */
export async function loadPosition(db: Queryable, stream: string): Promise<StoredPosition> {
  const positions = await loadPositions(db);
  return positions.get(stream) ?? { sequence: 0n, streamCreatedAt: null };
}

/** The positions by stream. */
export async function loadPositions(db: Queryable): Promise<ReadonlyMap<string, StoredPosition>> {
  const { rows } = await db.query<PositionRow>({
    name: "load-positions",
    text: `select stream, sequence, stream_created_at from fold_position`,
  });
  return new Map(
    rows.map(({ stream, sequence, stream_created_at }) => [
      stream,
      { sequence, streamCreatedAt: stream_created_at },
    ]),
  );
}

/** A batch that is folded in the transaction that moves the position over it. */
export interface FoldedBatch {
  readonly stream: string;
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  readonly streamCreatedAt: Date;
}

/**
 * Moves the position over a batch that begins right after it, which makes the batch count once.
 *
 * @throws conflict `FOLD_POSITION_MOVED` when it does not: somebody else has folded it.
 */
export async function advancePosition(tx: Queryable, batch: FoldedBatch): Promise<void> {
  const { rowCount } = await tx.query({
    name: "advance-position",
    text: `
      insert into fold_position as p (stream, sequence, stream_created_at) values ($1, $2, $3)
      on conflict (stream) do update set sequence = excluded.sequence
      where p.sequence = $4 - 1 and p.stream_created_at = excluded.stream_created_at`,
    values: [batch.stream, batch.lastSequence, batch.streamCreatedAt, batch.firstSequence],
  });
  if (rowCount !== 1) {
    throw conflict(
      "FOLD_POSITION_MOVED",
      `${batch.stream} is not at ${batch.firstSequence - 1n} any more: another process folds it`,
    );
  }
}

/** Sets the position past what is gone for good. */
export async function resumeAt(
  tx: Queryable,
  stream: string,
  { sequence, streamCreatedAt }: { readonly sequence: bigint; readonly streamCreatedAt: Date },
): Promise<void> {
  await tx.query(
    `insert into fold_position (stream, sequence, stream_created_at) values ($1, $2, $3)
     on conflict (stream) do update set
       sequence = excluded.sequence, stream_created_at = excluded.stream_created_at`,
    [stream, sequence, streamCreatedAt],
  );
}
