import { type CatalogChange, foldCatalog } from "../app/fold-catalog.ts";
import type { EvaluatorMetrics } from "../metrics.ts";
import { readCatalogMessage } from "./catalog-message.ts";
import type { StreamFold } from "./stream-fold.ts";

/** Folds `catalog.>`: what tables and environments there are, and what became of tables that sweeps issued. */
export function catalogFold({
  metrics,
}: {
  readonly metrics: Pick<EvaluatorMetrics, "clamped" | "dropped" | "kept" | "failed">;
}): StreamFold<CatalogChange> {
  return {
    stream: "CATALOG",
    source: "lapse.catalog",
    read: readCatalogMessage,
    async apply(tx, read) {
      const { clamped, answers } = await foldCatalog(
        tx,
        read.map(({ message }) => message),
      );
      return {
        refused: [],
        count() {
          metrics.clamped.inc(clamped);
          metrics.dropped.inc(answers.dropped);
          metrics.kept.inc(answers.kept);
          metrics.failed.inc(answers.failed);
        },
      };
    },
  };
}
