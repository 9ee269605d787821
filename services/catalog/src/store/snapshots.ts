import type { Queryable } from "@lapse/kit";
import type { CommitOperation } from "../domain/commit.ts";
import type { Contents } from "../domain/table.ts";

/** A commit as it is kept: what the table held after it, who did it and when. */
export interface Snapshot extends Contents {
  readonly snapshotId: string;
  readonly tableId: string;
  readonly operation: CommitOperation;
  readonly createdBy: string;
  readonly createdAt: Date;
}

export async function insertSnapshot(tx: Queryable, snapshot: Snapshot): Promise<void> {
  await tx.query(
    `insert into table_snapshot (snapshot_id, table_id, sequence, operation, row_count, byte_size,
       file_count, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      snapshot.snapshotId,
      snapshot.tableId,
      snapshot.snapshotSequence,
      snapshot.operation,
      snapshot.rowCount,
      snapshot.byteSize,
      snapshot.fileCount,
      snapshot.createdBy,
      snapshot.createdAt,
    ],
  );
}
