import type { Queryable } from "@lapse/kit";
import type { KnownFile } from "../domain/commit.ts";
import type { DataFile } from "../domain/data-file.ts";
import type { Held } from "./purges.ts";

interface FileRow {
  readonly path: string;
  readonly byte_size: bigint;
  readonly row_count: bigint;
  readonly removed: boolean;
}

/** What is stored under these paths of a table, in its current snapshot or any before it. */
export async function knownFiles(
  tx: Queryable,
  tableId: string,
  paths: readonly string[],
): Promise<KnownFile[]> {
  if (paths.length === 0) return [];
  const { rows } = await tx.query<FileRow>(
    `select path, byte_size, row_count, removed_in is not null as removed
     from data_file where table_id = $1 and path = any($2)`,
    [tableId, paths],
  );
  return rows.map((row) => ({ ...toDataFile(row), removed: row.removed }));
}

/** The files of the current snapshot, by path. */
export async function currentFiles(db: Queryable, tableId: string): Promise<DataFile[]> {
  const { rows } = await db.query<FileRow>(
    `select path, byte_size, row_count, false as removed
     from data_file where table_id = $1 and removed_in is null order by path`,
    [tableId],
  );
  return rows.map(toDataFile);
}

/** Files of the current snapshot by path, after one of them. */
export async function pageOfCurrentFiles(
  db: Queryable,
  page: { tableId: string; after: string | undefined; limit: number },
): Promise<DataFile[]> {
  const { rows } = await db.query<FileRow>(
    `select path, byte_size, row_count, false as removed from data_file
     where table_id = $1 and removed_in is null and ($2::text is null or path > $2)
     order by path limit $3`,
    [page.tableId, page.after ?? null, page.limit],
  );
  return rows.map(toDataFile);
}

/** Adds files with snapshot `sequence`. */
export async function addFiles(
  tx: Queryable,
  tableId: string,
  sequence: bigint,
  files: readonly DataFile[],
): Promise<void> {
  if (files.length === 0) return;
  await tx.query(
    `insert into data_file (table_id, path, byte_size, row_count, added_in)
     select $1, f.path, f.byte_size, f.row_count, $2
     from unnest($3::text[], $4::bigint[], $5::bigint[]) as f (path, byte_size, row_count)`,
    [
      tableId,
      sequence,
      files.map(({ path }) => path),
      files.map(({ byteSize }) => byteSize),
      files.map(({ rowCount }) => rowCount),
    ],
  );
}

/** Takes every current file but `kept` out of the table with snapshot `sequence`. */
export async function removeOtherFiles(
  tx: Queryable,
  {
    tableId,
    sequence,
    kept,
    now,
  }: { tableId: string; sequence: bigint; kept: readonly string[]; now: Date },
): Promise<void> {
  await tx.query(
    `update data_file set removed_in = $2, removed_at = $3
     where table_id = $1 and removed_in is null and added_in < $2 and not (path = any($4))`,
    [tableId, sequence, now, kept],
  );
}

/** A file that is out of its table for good, since when, and where it lies. */
export interface RemovedFile {
  readonly tableId: string;
  readonly path: string;
  readonly removedAt: Date;
  readonly bucket: string;
  readonly keyPrefix: string;
}

interface RemovedRow {
  readonly table_id: string;
  readonly path: string;
  readonly removed_at: Date;
  readonly bucket: string;
  readonly key_prefix: string;
}

/** Files of live tables taken out of them up to `removedBefore` and not deleted yet, oldest first, after `after`. */
export async function reclaimableFiles(
  db: Queryable,
  page: { removedBefore: Date; after: RemovedFile | undefined; limit: number } & Held,
): Promise<RemovedFile[]> {
  const { after } = page;
  const { rows } = await db.query<RemovedRow>(
    `select f.table_id, f.path, f.removed_at, t.bucket, t.key_prefix
     from data_file f join catalog_table t using (table_id)
     where f.removed_at <= $1 and f.reclaimed_at is null and t.state = 'live' and t.tenant <> all($6)
       and ($2::timestamptz is null or (f.removed_at, f.table_id, f.path) > ($2, $3::uuid, $4))
     order by f.removed_at, f.table_id, f.path limit $5`,
    [
      page.removedBefore,
      after?.removedAt ?? null,
      after?.tableId ?? null,
      after?.path ?? null,
      page.limit,
      page.held,
    ],
  );
  return rows.map((row) => ({
    tableId: row.table_id,
    path: row.path,
    removedAt: row.removed_at,
    bucket: row.bucket,
    keyPrefix: row.key_prefix,
  }));
}

/** Notes that these removed files are deleted. Their rows stay, so that their paths are never used again. */
export async function markReclaimed(
  tx: Queryable,
  files: readonly Pick<RemovedFile, "tableId" | "path">[],
  now: Date,
): Promise<void> {
  await tx.query(
    `update data_file f set reclaimed_at = $3
     from unnest($1::uuid[], $2::text[]) as done (table_id, path)
     where f.table_id = done.table_id and f.path = done.path and f.removed_at is not null`,
    [files.map(({ tableId }) => tableId), files.map(({ path }) => path), now],
  );
}

const toDataFile = (row: FileRow): DataFile => ({
  path: row.path,
  byteSize: row.byte_size,
  rowCount: row.row_count,
});
