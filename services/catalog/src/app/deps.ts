import type { Logger, Pool } from "@lapse/kit";
import type { ObjectStore } from "@lapse/object-store";
import type { UndoSettings } from "../domain/undo-period.ts";
import type { CatalogMetrics } from "../metrics.ts";
import type { Evaluator, RetentionPolicy } from "./peers.ts";

/** What the use cases work with. */
export interface CatalogDeps {
  readonly pool: Pool;
  readonly objectStore: ObjectStore;
  readonly evaluator: Evaluator;
  readonly retentionPolicy: RetentionPolicy;
  readonly undo: UndoSettings;
  /** How long a hold lasts without a heartbeat, in ms. */
  readonly holdTtlMs: number;
  readonly log: Logger;
  readonly metrics: CatalogMetrics;
}
