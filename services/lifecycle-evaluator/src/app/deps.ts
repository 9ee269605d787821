import type { Logger, Pool } from "@lapse/kit";
import type { EvaluatorMetrics } from "../metrics.ts";
import type { Catalog } from "../peers/catalog.ts";
import type { Fence } from "./fence.ts";

/** What the use cases work with. */
export interface EvaluatorDeps {
  readonly pool: Pool;
  readonly fence: Fence;
  readonly catalog: Catalog;
  readonly rules: SweepRules;
  readonly log: Logger;
  readonly metrics: EvaluatorMetrics;
}

/** How sweeps are run, and what they warn of; from the settings. */
interface SweepRules {
  /** 0: never by the schedule (T23). */
  readonly intervalSeconds: number;
  /** Tables that one sweep drops, at most (T24). */
  readonly cap: number;
  /** Share of an environment's tables above which it is held back when they are due; 1: never (T26). */
  readonly maxExpiryShare: number;
  /** In retention days (T11). */
  readonly warningDays: number;
  /** How long a sweep waits for the fence before it is held. */
  readonly fenceTimeoutMs: number;
  /** How long a sweep waits for the catalog's answer to a table. */
  readonly answerTimeoutMs: number;
}
