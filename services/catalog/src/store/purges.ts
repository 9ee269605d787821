import type { Queryable } from "@lapse/kit";
import { firstPrefixAfter, prefixesAbove } from "../domain/location.ts";
import type { Location } from "../domain/table.ts";
import { deleteTableAccess } from "./table-access.ts";

/** Queues the deletion of a table's files, in the transaction that makes it `purging`. */
export async function queuePurge(tx: Queryable, tableId: string, now: Date): Promise<void> {
  await tx.query("insert into table_purge (table_id, not_before) values ($1, $2)", [tableId, now]);
}

export interface Held {
  /** Tenants of which nothing is deleted. */
  readonly held: readonly string[];
}

/** A purge that this worker does now, as long as it renews the claim. */
export interface PurgeClaim {
  readonly tableId: string;
  /** New with every claim. */
  readonly claim: string;
  /** Which attempt in a row this is, from 1. */
  readonly attempt: number;
}

/** Claims the purge that has waited longest and that no other worker does; undefined when there is none. */
export async function claimPurge(
  db: Queryable,
  { claim, leaseMs, held }: { claim: string; leaseMs: number } & Held,
): Promise<PurgeClaim | undefined> {
  const { rows } = await db.query<{ table_id: string; attempts: number }>(
    `update table_purge set claim = $1, claimed_until = now() + make_interval(secs => $2 / 1000.0),
       attempts = attempts + 1
     where table_id = (
       select p.table_id from table_purge p join catalog_table t using (table_id)
       where p.not_before <= now() and (p.claimed_until is null or p.claimed_until <= now())
         and t.tenant <> all($3)
       order by p.not_before, p.table_id limit 1 for update of p skip locked)
     returning table_id, attempts`,
    [claim, leaseMs, held],
  );
  return rows[0] && { tableId: rows[0].table_id, claim, attempt: rows[0].attempts };
}

/** The heartbeat; false when the claim is another worker's by now, so this one must stop. */
export async function renewClaim(
  db: Queryable,
  { tableId, claim }: PurgeClaim,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update table_purge set claimed_until = now() + make_interval(secs => $3 / 1000.0)
     where table_id = $1 and claim = $2`,
    [tableId, claim, leaseMs],
  );
  return rowCount === 1;
}

/** Gives a claim back after a failure. True when this is the purge's first failure, to be reported. */
export async function postponePurge(
  tx: Queryable,
  { tableId, claim }: PurgeClaim,
  { notBefore, error }: { notBefore: Date; error: string },
): Promise<boolean> {
  const { rows } = await tx.query<{ reported: boolean }>(
    `update table_purge p set claim = null, claimed_until = null, not_before = $3, last_error = $4,
       failure_reported = true
     from (select table_id, failure_reported from table_purge where table_id = $1 for update) before
     where p.table_id = before.table_id and p.claim = $2
     returning before.failure_reported as reported`,
    [tableId, claim, notBefore, error],
  );
  return rows[0]?.reported === false;
}

/** Gives a claim back without having tried, so that another worker may go on at once. */
export async function releaseClaim(db: Queryable, { tableId, claim }: PurgeClaim): Promise<void> {
  await db.query(
    `update table_purge set claim = null, claimed_until = null, attempts = greatest(attempts - 1, 0)
     where table_id = $1 and claim = $2`,
    [tableId, claim],
  );
}

/** Ends a purge and forgets the table's files, snapshots and access rules; false when the claim is another worker's by now. */
export async function endPurge(tx: Queryable, { tableId, claim }: PurgeClaim): Promise<boolean> {
  const { rowCount } = await tx.query(
    "delete from table_purge where table_id = $1 and claim = $2",
    [tableId, claim],
  );
  if (rowCount !== 1) return false;
  await tx.query("delete from data_file where table_id = $1", [tableId]);
  await tx.query("delete from table_snapshot where table_id = $1", [tableId]);
  await tx.query("delete from write_hold where table_id = $1", [tableId]);
  await deleteTableAccess(tx, tableId);
  return true;
}

/** A table whose purge may begin; `since` and id order the list. */
export interface PurgeCandidate {
  readonly tableId: string;
  readonly since: Date;
}

interface CandidateRow {
  readonly table_id: string;
  readonly since: Date;
}

const toCandidate = (row: CandidateRow): PurgeCandidate => ({
  tableId: row.table_id,
  since: row.since,
});

/** Dropped tables whose undo period has ended, the longest ended first, from after `after` on. */
export async function undoPeriodsOver(
  db: Queryable,
  { after, limit, held }: { after: PurgeCandidate | undefined; limit: number } & Held,
): Promise<PurgeCandidate[]> {
  const { rows } = await db.query<CandidateRow>(
    `select table_id, undo_until as since from catalog_table
     where state = 'dropped' and undo_until <= now() and tenant <> all($4)
       and ($1::timestamptz is null or (undo_until, table_id) > ($1, $2::uuid))
     order by undo_until, table_id limit $3`,
    [after?.since ?? null, after?.tableId ?? null, limit, held],
  );
  return rows.map(toCandidate);
}

/** Staged tables created up to `before` that nobody holds, the oldest first, from after `after` on. */
export async function stagedBefore(
  db: Queryable,
  {
    before,
    after,
    limit,
    held,
  }: { before: Date; after: PurgeCandidate | undefined; limit: number } & Held,
): Promise<PurgeCandidate[]> {
  const { rows } = await db.query<CandidateRow>(
    `select table_id, created_at as since from catalog_table t
     where state = 'staged' and created_at <= $1 and tenant <> all($5)
       and ($2::timestamptz is null or (created_at, table_id) > ($2, $3::uuid))
       and not exists (
         select from write_hold h where h.table_id = t.table_id and h.expires_at > now())
     order by created_at, table_id limit $4`,
    [before, after?.since ?? null, after?.tableId ?? null, limit, held],
  );
  return rows.map(toCandidate);
}

/** A table other than `tableId`, not purged yet, whose location is this one, above it or below it; or undefined. */
export async function findOverlap(
  db: Queryable,
  tableId: string,
  { bucket, keyPrefix }: Location,
): Promise<string | undefined> {
  const { rows } = await db.query<{ table_id: string }>(
    `select table_id from catalog_table
     where bucket = $2 and state <> 'purged' and table_id <> $1
       and (key_prefix = any($3) or (key_prefix >= $4 and key_prefix < $5))
     limit 1`,
    [tableId, bucket, prefixesAbove(keyPrefix), keyPrefix, firstPrefixAfter(keyPrefix)],
  );
  return rows[0]?.table_id;
}

/** How many tables of a tenant are being purged, or could be now that their undo period has ended. */
export async function countWaitingPurges(db: Queryable, tenant: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from (
       select from catalog_table where state = 'dropped' and undo_until <= now() and tenant = $1
       union all
       select from table_purge p join catalog_table t using (table_id) where t.tenant = $1
     ) waiting`,
    [tenant],
  );
  return Number(rows[0]?.count ?? 0n);
}

/** How many tables are being purged, and how many of those failed before. */
export async function purgeBacklog(db: Queryable): Promise<{ waiting: number; failing: number }> {
  const { rows } = await db.query<{ waiting: bigint; failing: bigint }>(
    "select count(*) as waiting, count(*) filter (where failure_reported) as failing from table_purge",
  );
  return { waiting: Number(rows[0]?.waiting ?? 0n), failing: Number(rows[0]?.failing ?? 0n) };
}
