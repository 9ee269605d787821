import type { Queryable } from "@lapse/kit";
import type { SweepOutcome } from "../domain/sweep.ts";
import type { SweepProgress } from "../domain/sweep-budget.ts";

/** A table that a sweep issues. */
export interface NewCandidate {
  readonly tableId: string;
  readonly tenant: string;
  /** With its namespace. */
  readonly name: string;
}

/** Stores what a sweep issues; the ids of those that it has not issued before. */
export async function insertCandidates(
  tx: Queryable,
  sweepId: string,
  candidates: readonly NewCandidate[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ table_id: string }>(
    `with issued as (
       insert into sweep_candidate (sweep_id, table_id, tenant, name, issued_at)
       select $1, c.table_id, c.tenant, c.name, now()
       from unnest($2::uuid[], $3::text[], $4::text[]) as c (table_id, tenant, name)
       on conflict do nothing
       returning table_id, tenant
     ), counted as (
       insert into sweep_tenant as t (sweep_id, tenant, due)
       select $1, tenant, count(*) from issued group by tenant order by tenant
       on conflict (sweep_id, tenant) do update set due = t.due + excluded.due
     )
     select table_id from issued`,
    [
      sweepId,
      candidates.map(({ tableId }) => tableId),
      candidates.map(({ tenant }) => tenant),
      candidates.map(({ name }) => name),
    ],
  );
  return new Set(rows.map(({ table_id }) => table_id));
}

/** What has become so far of what a sweep issued, by tenant; a tenant of which nothing counts is left out. */
export async function loadProgress(
  db: Queryable,
  sweepId: string,
): Promise<ReadonlyMap<string, SweepProgress>> {
  const { rows } = await db.query<{
    tenant: string;
    dropped: bigint;
    outstanding: bigint;
    unanswered: bigint;
  }>({
    name: "load-progress",
    text: `
      select tenant, sum(dropped)::bigint as dropped, sum(outstanding)::bigint as outstanding,
        sum(unanswered)::bigint as unanswered
      from (
        select tenant, tables as dropped, 0 as outstanding, 0 as unanswered
        from sweep_tally where sweep_id = $1 and outcome = 'dropped'
        union all
        select tenant, 0, count(*) filter (where outcome = 'issued'),
          count(*) filter (where outcome = 'unanswered')
        from sweep_candidate
        where sweep_id = $1 and outcome in ('issued', 'unanswered')
        group by tenant
      ) p
      group by tenant`,
    values: [sweepId],
  });
  return new Map(
    rows.map(({ tenant, dropped, outstanding, unanswered }) => [
      tenant,
      {
        dropped: Number(dropped),
        outstanding: Number(outstanding),
        unanswered: Number(unanswered),
      },
    ]),
  );
}

/**
 * Waits no more for what was issued `afterMs` ago or earlier; how many tables that is. An answer may still
 * come.
 */
export async function giveUpOn(tx: Queryable, sweepId: string, afterMs: number): Promise<number> {
  const { rowCount } = await tx.query(
    `update sweep_candidate set outcome = 'unanswered'
     where sweep_id = $1 and outcome = 'issued' and issued_at <= now() - make_interval(secs => $2 / 1000.0)`,
    [sweepId, afterMs],
  );
  return rowCount ?? 0;
}

interface OutcomeRow extends Record<string, unknown> {
  table_id: string;
  tenant: string;
  name: string;
  outcome: SweepOutcome["outcome"];
  reason: string;
  issued_at: Date;
  answered_at: Date | null;
}

/** What became of the tables of a sweep, at most `limit`; of one tenant, or (null) of all. */
export async function listOutcomes(
  db: Queryable,
  sweepId: string,
  { tenant, limit }: { readonly tenant: string | null; readonly limit: number },
): Promise<readonly SweepOutcome[]> {
  const { rows } = await db.query<OutcomeRow>(
    `select table_id, tenant, name, outcome, reason, issued_at, answered_at
     from sweep_candidate
     where sweep_id = $1 and ($2::text is null or tenant = $2)
     order by issued_at, table_id limit $3`,
    [sweepId, tenant, limit],
  );
  return rows.map((row) => ({
    tableId: row.table_id,
    tenant: row.tenant,
    name: row.name,
    outcome: row.outcome,
    reason: row.reason,
    issuedAt: row.issued_at,
    answeredAt: row.answered_at,
  }));
}
