import type { Decision } from "./decision.ts";

/** Decisions that arrived, told apart by what the log already holds. */
export interface Sorted {
  /** To be appended, in this order: by source, and by their number there. */
  readonly fresh: readonly Decision[];
  /** They carry the id of another decision, which stands. */
  readonly misused: readonly Decision[];
}

/** Where a decision came from, which tells a repeated delivery from a second use of its id. */
export type Identity = Pick<Decision, "id" | "source" | "sourceSequence">;

/**
 * Leaves out what is in the log already, or twice in `arrived`: a decision with the same id from the same
 * place is the same decision, however often it is delivered.
 */
export function sortArrived(arrived: readonly Decision[], known: readonly Identity[]): Sorted {
  const seen = new Map<string, Identity>(known.map((identity) => [identity.id, identity]));
  const fresh: Decision[] = [];
  const misused: Decision[] = [];
  for (const decision of [...arrived].sort(bySourceAndSequence)) {
    const first = seen.get(decision.id);
    if (first === undefined) {
      seen.set(decision.id, decision);
      fresh.push(decision);
    } else if (!sameOrigin(first, decision)) {
      misused.push(decision);
    }
  }
  return { fresh, misused };
}

function sameOrigin(a: Identity, b: Identity): boolean {
  return a.source === b.source && a.sourceSequence === b.sourceSequence;
}

function bySourceAndSequence(a: Decision, b: Decision): number {
  if (a.source !== b.source) {
    return a.source < b.source ? -1 : 1;
  }
  const [first, second] = [a.sourceSequence ?? 0n, b.sourceSequence ?? 0n];
  return first === second ? 0 : first < second ? -1 : 1;
}
