import type { Queryable } from "@lapse/kit";
import { type Blockers, MAX_COUNTED, SHOWN_BLOCKERS } from "../domain/blockers.ts";
import type { Drop, TableState } from "../domain/table.ts";
import { isAtOrBelow } from "./namespaces.ts";

interface BlockerRow {
  readonly namespace: string;
  readonly name: string;
  readonly state: TableState;
  readonly dropped_at: Date | null;
  readonly dropped_by: string | null;
  readonly drop_reason: Drop["reason"] | null;
  readonly undo_until: Date | null;
}

/**
 * The tables that are not purged yet of an environment, in a namespace and those below it where one is given. Whoever
 * deletes on this has locked the environment's names.
 */
export async function findBlockers(
  tx: Queryable,
  { environmentId, namespace }: { environmentId: string; namespace: string | undefined },
): Promise<Blockers> {
  const where = `environment_id = $1 and state <> 'purged'
    and ($2::text is null or ${isAtOrBelow("namespace", "$2")})`;
  const { rows } = await tx.query<BlockerRow>(
    `select namespace, name, state, dropped_at, dropped_by, drop_reason, undo_until from catalog_table
     where ${where} order by namespace, name limit $3`,
    [environmentId, namespace ?? null, SHOWN_BLOCKERS],
  );
  if (rows.length === 0) return { shown: [], total: 0 };
  const { rows: counted } = await tx.query<{ total: bigint }>(
    `select count(*) as total from (select from catalog_table where ${where} limit $3) present`,
    [environmentId, namespace ?? null, MAX_COUNTED],
  );
  return { shown: rows.map(toBlocker), total: Number(counted[0]?.total ?? 0n) };
}

const toBlocker = (row: BlockerRow) => ({
  namespace: row.namespace,
  name: row.name,
  state: row.state,
  drop:
    row.dropped_at && row.drop_reason && row.undo_until
      ? {
          at: row.dropped_at,
          by: row.dropped_by,
          reason: row.drop_reason,
          undoUntil: row.undo_until,
        }
      : null,
});
