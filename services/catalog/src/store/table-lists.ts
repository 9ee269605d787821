import type { Queryable } from "@lapse/kit";
import {
  TABLE_COLUMNS,
  TABLE_SOURCE,
  type TableInEnvironment,
  type TableRow,
  toTableInEnvironment,
} from "./table-row.ts";

/** A page of live tables begins after this name. */
export interface LiveCursor {
  readonly namespace: string;
  readonly name: string;
}

/** Live tables of an environment by namespace and name; `namespace` narrows to it and those below it. */
export async function listLiveTables(
  db: Queryable,
  page: {
    environmentId: string;
    namespace: string | undefined;
    after: LiveCursor | undefined;
    limit: number;
  },
): Promise<TableInEnvironment[]> {
  const { rows } = await db.query<TableRow>(
    `select ${TABLE_COLUMNS} from ${TABLE_SOURCE}
     where t.environment_id = $1 and t.state = 'live'
       -- The range is what the index finds; it also holds names such as $2 || '-x'.
       and ($2::text is null or t.namespace >= $2 and t.namespace < $2 || '/'
         and substr(t.namespace, length($2) + 1, 1) in ('', '.'))
       and ($3::text is null or (t.namespace, t.name) > ($3, $4))
     order by t.namespace, t.name limit $5`,
    [
      page.environmentId,
      page.namespace ?? null,
      page.after?.namespace ?? null,
      page.after?.name ?? null,
      page.limit,
    ],
  );
  return rows.map(toTableInEnvironment);
}

/** A page of dropped tables begins after this one. */
export interface DroppedCursor {
  readonly droppedAt: Date;
  readonly tableId: string;
}

/** Dropped tables of an environment, those being purged included, the last dropped first. */
export async function listDroppedTables(
  db: Queryable,
  page: { environmentId: string; after: DroppedCursor | undefined; limit: number },
): Promise<TableInEnvironment[]> {
  const { rows } = await db.query<TableRow>(
    `select ${TABLE_COLUMNS} from ${TABLE_SOURCE}
     where t.environment_id = $1 and t.state in ('dropped', 'purging') and t.dropped_at is not null
       and ($2::timestamptz is null or (t.dropped_at, t.table_id) < ($2, $3::uuid))
     order by t.dropped_at desc, t.table_id desc limit $4`,
    [page.environmentId, page.after?.droppedAt ?? null, page.after?.tableId ?? null, page.limit],
  );
  return rows.map(toTableInEnvironment);
}
