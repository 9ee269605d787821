import { canonicalJson } from "./canonical-json.ts";
import type { Decision } from "./decision.ts";

/** Decisions that arrived, told apart by what the log already holds. */
export interface Arrived {
  /** To be appended, in this order: by source, and by their number there. */
  readonly fresh: readonly Decision[];
  /** They carry the id of another decision, which stands. */
  readonly misused: readonly Decision[];
}

/**
 * Leaves out what is in the log already, or twice in `arrived`: equal content under one id is one decision, however
 * often and under whichever numbers its source sends it.
 */
export function sortArrived(arrived: readonly Decision[], known: readonly Decision[]): Arrived {
  const seen = new Map(known.map((decision) => [decision.id, decision]));
  const fresh: Decision[] = [];
  const misused: Decision[] = [];
  for (const decision of [...arrived].sort(bySourceAndSequence)) {
    const first = seen.get(decision.id);
    if (first === undefined) {
      seen.set(decision.id, decision);
      fresh.push(decision);
    } else if (contentOf(first) !== contentOf(decision)) {
      misused.push(decision);
    }
  }
  return { fresh, misused };
}

/** All that a decision says, in one text. */
function contentOf(decision: Decision): string {
  const { id, at, type, service, tenant, actor, resource, outcome, reason, details } = decision;
  const { runId, traceId, source } = decision;
  return canonicalJson([
    ...[id, at.toJSON(), type, service, tenant, actor, { ...resource }, outcome, reason],
    ...[details, runId, traceId, source],
  ]);
}

function bySourceAndSequence(a: Decision, b: Decision): number {
  if (a.source !== b.source) {
    return a.source < b.source ? -1 : 1;
  }
  const [first, second] = [a.sourceSequence ?? 0n, b.sourceSequence ?? 0n];
  return first === second ? 0 : first < second ? -1 : 1;
}
