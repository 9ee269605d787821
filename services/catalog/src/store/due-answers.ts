import type { Queryable } from "@lapse/kit";

/** How a due event was answered: "dropped", or the reason it was kept for. */
export interface DueAnswer {
  readonly sweepId: string;
  readonly tableId: string;
  readonly answer: string;
}

/** Which of these due events have been answered, as `sweepId/tableId`. */
export async function answeredDue(
  db: Queryable,
  due: readonly Pick<DueAnswer, "sweepId" | "tableId">[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ sweep_id: string; table_id: string }>(
    `select a.sweep_id, a.table_id from due_answer a
     join unnest($1::text[], $2::uuid[]) as d (sweep_id, table_id) using (sweep_id, table_id)`,
    [due.map(({ sweepId }) => sweepId), due.map(({ tableId }) => tableId)],
  );
  return new Set(rows.map((row) => answerKey(row.sweep_id, row.table_id)));
}

export const answerKey = (sweepId: string, tableId: string): string => `${sweepId}/${tableId}`;

/**
 * Records the answer in the transaction that gives it. False when the event has been answered already: the
 * transaction must then change nothing.
 */
export async function recordAnswer(tx: Queryable, answer: DueAnswer, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into due_answer (sweep_id, table_id, answer, answered_at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [answer.sweepId, answer.tableId, answer.answer, now],
  );
  return rowCount === 1;
}

/** Deletes up to `limit` answers given before `before`, and says how many. */
export async function deleteOldAnswers(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from due_answer where (sweep_id, table_id) in (
       select sweep_id, table_id from due_answer where answered_at < $1
       order by answered_at limit $2 for update skip locked)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
