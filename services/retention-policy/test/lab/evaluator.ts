import type { Evaluator, FormerExpiry, Versions } from "../../src/peers/evaluator.ts";

/** Stands in for the evaluator: answers what it was told to. */
export interface LabEvaluator extends Evaluator {
  /** When every table expires; null: it does not answer. */
  answer: FormerExpiry | null;
  readonly asked: { readonly tableId: string; readonly atLeast: Versions }[];
}

/** At first no table expires. */
export function labEvaluator(): LabEvaluator {
  const lab: LabEvaluator = {
    answer: { lastActivityAt: null, expiresAt: null },
    asked: [],
    async expiryNow(tableId, atLeast) {
      lab.asked.push({ tableId, atLeast });
      return lab.answer;
    },
  };
  return lab;
}
