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
  return new Set(rows.map((row) => answerKey({ sweepId: row.sweep_id, tableId: row.table_id })));
}

export const answerKey = ({ sweepId, tableId }: Pick<DueAnswer, "sweepId" | "tableId">): string =>
  `${sweepId}/${tableId}`;

/**
 * Records answers in the transaction that gives them. The result says of an event whether it had none before; of one
 * that had, this transaction must change nothing.
 */
export async function recordAnswers(
  tx: Queryable,
  answers: readonly DueAnswer[],
  now: Date,
): Promise<(due: Pick<DueAnswer, "sweepId" | "tableId">) => boolean> {
  const { rows } = await tx.query<{ sweep_id: string; table_id: string }>(
    `insert into due_answer (sweep_id, table_id, answer, answered_at)
     select sweep_id, table_id, answer, $4
     from unnest($1::text[], $2::uuid[], $3::text[]) as a (sweep_id, table_id, answer)
     order by sweep_id, table_id
     on conflict do nothing returning sweep_id, table_id`,
    [
      answers.map(({ sweepId }) => sweepId),
      answers.map(({ tableId }) => tableId),
      answers.map(({ answer }) => answer),
      now,
    ],
  );
  const recorded = new Set(
    rows.map((row) => answerKey({ sweepId: row.sweep_id, tableId: row.table_id })),
  );
  return (due) => recorded.has(answerKey(due));
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
