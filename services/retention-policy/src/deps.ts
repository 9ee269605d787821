import type { Clock, Pool } from "@lapse/kit";
import type { DayLength } from "@lapse/rules";
import type { Catalog } from "./peers/catalog.ts";
import type { Evaluator } from "./peers/evaluator.ts";

/** What the use cases work with. */
export interface PolicyDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly evaluator: Evaluator;
  readonly dayLength: DayLength;
}
