/** What the catalog did with one table that a sweep found due. */
export interface SweepAnswer {
  readonly sweepId: string;
  readonly tableId: string;
  readonly outcome: "dropped" | "kept" | "failed";
  /** Stable slug; empty for a drop. */
  readonly reason: string;
}

/** A table that the catalog could not drop is kept like any other, and counts as failed. */
export function keptOutcome(reason: string): "kept" | "failed" {
  return reason === "failed" ? "failed" : "kept";
}

/**
 * The first answer for each table of a sweep, in the order of the keys: a due event that is delivered twice
 * is answered twice.
 */
export function firstAnswers(answers: readonly SweepAnswer[]): readonly SweepAnswer[] {
  const first = new Map<string, SweepAnswer>();
  for (const answer of answers) {
    const key = `${answer.sweepId} ${answer.tableId}`;
    if (!first.has(key)) {
      first.set(key, answer);
    }
  }
  return [...first.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, answer]) => answer);
}
