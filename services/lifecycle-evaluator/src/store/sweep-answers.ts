import type { Queryable } from "@lapse/kit";
import { firstAnswers, type SweepAnswer } from "../domain/sweep-answer.ts";

/** Tables by what the catalog did with them. */
export type AnswerCounts = Readonly<Record<SweepAnswer["outcome"], number>>;

/**
 * Records what the catalog did with tables that sweeps issued, late answers too, and counts it. Only the
 * first answer for a table counts; one for a sweep that is not known (any more) changes nothing. Gives how
 * many counted.
 */
export async function saveSweepAnswers(
  tx: Queryable,
  answers: readonly SweepAnswer[],
): Promise<AnswerCounts> {
  const counts = { dropped: 0, kept: 0, failed: 0 };
  const first = firstAnswers(answers);
  if (first.length === 0) {
    return counts;
  }
  const { rows } = await tx.query<{ outcome: SweepAnswer["outcome"]; tables: number }>({
    name: "save-sweep-answers",
    text: `
      with answered as (
        update sweep_candidate c
        set outcome = a.outcome, reason = a.reason, answered_at = now()
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as a (sweep_id, table_id, outcome, reason)
        where c.sweep_id = a.sweep_id and c.table_id = a.table_id and c.outcome in ('issued', 'unanswered')
        returning c.sweep_id, c.tenant, c.outcome, c.reason
      ), tallied as (
        insert into sweep_tally as t (sweep_id, tenant, outcome, reason, tables)
        select sweep_id, tenant, outcome, reason, count(*) from answered group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (sweep_id, tenant, outcome, reason) do update set tables = t.tables + excluded.tables
      )
      select outcome, count(*)::integer as tables from answered group by outcome`,
    values: [
      first.map(({ sweepId }) => sweepId),
      first.map(({ tableId }) => tableId),
      first.map(({ outcome }) => outcome),
      first.map(({ reason }) => reason),
    ],
  });
  for (const { outcome, tables } of rows) {
    counts[outcome] += tables;
  }
  return counts;
}
