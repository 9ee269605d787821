import type { Performed } from "./rules/operation.ts";
import type { SweepSeen } from "./rules/sweep.ts";

/** What has happened in all, and how often: that nothing differs says little where nothing happens. */
export class Tally {
  readonly #counts = new Map<string, number>();

  performed(performed: Performed | undefined): void {
    if (performed === undefined) return;
    const { operation, outcome } = performed;
    this.#count(`${operation.kind} ${outcome.refused ?? "done"}`);
    if (outcome.repeated) this.#count("repeated: the evaluator was behind");
  }

  swept(outcomes: SweepSeen["outcomes"]): void {
    for (const { outcome, reason } of outcomes.values()) {
      this.#count(`sweep ${outcome}${reason && ` ${reason}`}`);
    }
  }

  /** `drop done`, `drop TABLE_HELD`, `sweep kept held`: as often as they were counted. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}
