import type { Queryable } from "@lapse/kit";
import type { Subject } from "./given.ts";
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

export interface LivePage {
  readonly environmentId: string;
  /** Only this namespace and those below it. */
  readonly namespace: string | undefined;
  readonly after: LiveCursor | undefined;
  readonly limit: number;
}

/** Of an alias `t`; parameters 1 to 5 are those of {@link livePage}. */
const IN_LIVE_PAGE = `
  t.environment_id = $1 and t.state = 'live'
  -- The range is what the index finds; it also holds names such as $2 || '-x'.
  and ($2::text is null or t.namespace >= $2 and t.namespace < $2 || '/'
    and substr(t.namespace, length($2) + 1, 1) in ('', '.'))
  and ($3::text is null or (t.namespace, t.name) > ($3, $4))`;

const livePage = ({ environmentId, namespace, after, limit }: LivePage): unknown[] => [
  environmentId,
  namespace ?? null,
  after?.namespace ?? null,
  after?.name ?? null,
  limit,
];

/** Live tables of an environment by namespace and name. */
export async function listLiveTables(db: Queryable, page: LivePage): Promise<TableInEnvironment[]> {
  const { rows } = await db.query<TableRow>(
    `select ${TABLE_COLUMNS} from ${TABLE_SOURCE}
     where ${IN_LIVE_PAGE} order by t.namespace, t.name limit $5`,
    livePage(page),
  );
  return rows.map(toTableInEnvironment);
}

/**
 * Of these, the ones that the subject owns or that a grant opens to it: found by what it has, not by looking at what it
 * may not see. Its own come from an index in the order of the list, the others from its grants. The fences (offset 0)
 * are for small catalogs, all of which the planner would rather read than make a few probes.
 */
export async function listOpenTables(
  db: Queryable,
  page: LivePage,
  { tenant, subject }: Subject,
): Promise<TableInEnvironment[]> {
  const { rows } = await db.query<TableRow>(
    `with page as (
       (select t.table_id, t.namespace, t.name from catalog_table t
        where t.owner = $6 and ${IN_LIVE_PAGE} order by t.namespace, t.name limit $5)
       union all
       (select t.table_id, t.namespace, t.name
        from (select distinct table_id from table_grant
              where tenant = $7 and subject = $6 and environment_id = $1) g,
          lateral (select * from catalog_table where table_id = g.table_id offset 0) t
        where t.owner <> $6 and ${IN_LIVE_PAGE} order by t.namespace, t.name limit $5)
       order by namespace, name limit $5
     )
     select ${TABLE_COLUMNS} from page p,
       lateral (select * from catalog_table where table_id = p.table_id offset 0) t
         join environment e using (environment_id)
     order by p.namespace, p.name`,
    [...livePage(page), subject, tenant],
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
  page: {
    environmentId: string;
    after: DroppedCursor | undefined;
    limit: number;
    /** Only those of this owner; undefined: all. */
    owner: string | undefined;
    /** Only the generations of this name; undefined: all. */
    place: { namespace: string; name: string } | undefined;
  },
): Promise<TableInEnvironment[]> {
  const { after, place, owner } = page;
  const { rows } = await db.query<TableRow>(
    `select ${TABLE_COLUMNS} from ${TABLE_SOURCE}
     where t.environment_id = $1 and t.state in ('dropped', 'purging') and t.dropped_at is not null
       and ($2::timestamptz is null or (t.dropped_at, t.table_id) < ($2, $3::uuid))
       ${owner === undefined ? "and $5::text is null" : "and t.owner = $5"}
       ${place ? "and t.namespace = $6 and t.name = $7" : "and $6::text is null and $7::text is null"}
     order by t.dropped_at desc, t.table_id desc limit $4`,
    [
      page.environmentId,
      after?.droppedAt ?? null,
      after?.tableId ?? null,
      page.limit,
      owner ?? null,
      place?.namespace ?? null,
      place?.name ?? null,
    ],
  );
  return rows.map(toTableInEnvironment);
}
