import type { Performed } from "./rules/operation.ts";
import type { SweepSeen } from "./rules/sweep.ts";

/** What has happened in all, and how often: a property that nothing happens to holds as well. */
export class Tally {
  readonly #counts = new Map<string, number>();

  performed(performed: Performed | undefined): void {
    if (performed === undefined) return;
    const { operation, outcome } = performed;
    this.#count(`${operation.kind}: ${outcome.refused ?? "done"}`);
  }

  swept(outcomes: SweepSeen["outcomes"]): void {
    for (const { outcome, reason } of outcomes.values()) {
      this.#count(`sweep: ${outcome}${reason && ` ${reason}`}`);
    }
  }

  /** `{"drop: done": 12, "sweep: kept held": 3, …}` */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort());
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}
