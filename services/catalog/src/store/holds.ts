import type { Queryable } from "@lapse/kit";
import type { Hold, HoldKind } from "../domain/hold.ts";

interface HoldRow {
  readonly hold_id: string;
  readonly table_id: string;
  readonly tenant: string;
  readonly kind: HoldKind;
  readonly holder: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const HOLD_COLUMNS = "hold_id, table_id, tenant, kind, holder, created_at, expires_at";

/**
 * The holds on a table that last beyond `now`. To decide on them, lock the table's row first, in a statement before:
 * only then is a hold seen whose transaction the lock waited for.
 */
export async function activeHolds(
  db: Queryable,
  tableId: string,
  now: Date,
): Promise<readonly Hold[]> {
  return (await activeHoldsOn(db, [tableId], now)).get(tableId) ?? [];
}

/** The same for many tables, by table id. */
export async function activeHoldsOn(
  db: Queryable,
  tableIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, readonly Hold[]>> {
  const { rows } = await db.query<HoldRow>(
    `select ${HOLD_COLUMNS} from write_hold where table_id = any($1) and expires_at > $2
     order by expires_at desc`,
    [tableIds, now],
  );
  const holds = new Map<string, Hold[]>();
  for (const row of rows) {
    holds.set(row.table_id, [...(holds.get(row.table_id) ?? []), toHold(row)]);
  }
  return holds;
}

/** How many holds last beyond now, over all tables. */
export async function countActiveHolds(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    "select count(*) as count from write_hold where expires_at > now()",
  );
  return Number(rows[0]?.count ?? 0n);
}

export async function findHold(db: Queryable, holdId: string): Promise<Hold | undefined> {
  const { rows } = await db.query<HoldRow>(
    `select ${HOLD_COLUMNS} from write_hold where hold_id = $1`,
    [holdId],
  );
  return rows[0] && toHold(rows[0]);
}

export async function insertHold(tx: Queryable, hold: Hold): Promise<void> {
  await tx.query(`insert into write_hold (${HOLD_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`, [
    hold.holdId,
    hold.tableId,
    hold.tenant,
    hold.kind,
    hold.holder,
    hold.createdAt,
    hold.expiresAt,
  ]);
}

/** Lets a hold that still lasts at `now` last until `expiresAt`; undefined when it has ended. */
export async function extendHold(
  tx: Queryable,
  { holdId, now, expiresAt }: { holdId: string; now: Date; expiresAt: Date },
): Promise<Hold | undefined> {
  const { rows } = await tx.query<HoldRow>(
    `update write_hold set expires_at = greatest(expires_at, $3)
     where hold_id = $1 and expires_at > $2 returning ${HOLD_COLUMNS}`,
    [holdId, now, expiresAt],
  );
  return rows[0] && toHold(rows[0]);
}

/** Ends a hold on this table, only where it is `holder`'s if one is given; one that has ended is fine. */
export async function deleteHold(
  tx: Queryable,
  { tableId, holdId, holder }: { tableId: string; holdId: string; holder?: string | undefined },
): Promise<void> {
  await tx.query(
    `delete from write_hold
     where hold_id = $1 and table_id = $2 and ($3::text is null or holder = $3)`,
    [holdId, tableId, holder ?? null],
  );
}

/** Deletes up to `limit` holds that have ended, and says how many. A renewal that comes between wins. */
export async function deleteEndedHolds(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from write_hold where hold_id in (
       select hold_id from write_hold where expires_at <= now()
       order by expires_at limit $1 for update skip locked)`,
    [limit],
  );
  return rowCount ?? 0;
}

const toHold = (row: HoldRow): Hold => ({
  holdId: row.hold_id,
  tableId: row.table_id,
  tenant: row.tenant,
  kind: row.kind,
  holder: row.holder,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});
