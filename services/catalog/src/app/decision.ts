import { appendDecisions, type DecisionEvent, type Queryable } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import type { DecidedResource } from "./access.ts";

/** What the catalog decides or refuses (T32). */
type CatalogDecisionType =
  | "ENVIRONMENT_CREATED"
  | "ENVIRONMENT_PROTECTED"
  | "ENVIRONMENT_UNPROTECTED"
  | "TABLE_CREATED"
  | "TABLE_DROPPED"
  | "TABLE_KEPT"
  | "TABLE_PURGED"
  | "TABLE_PURGE_FAILED"
  | "TABLE_RESTORED";

export interface CatalogDecision extends Omit<DecisionEvent, "service"> {
  readonly type: CatalogDecisionType;
  readonly resource: DecidedResource;
  readonly reason: string;
}

/** Records a decision in the transaction of its effect; `now` is that transaction's time. */
export const appendCatalogDecision = (
  tx: Queryable,
  now: Date,
  decision: CatalogDecision,
): Promise<void> => appendCatalogDecisions(tx, now, [decision]);

/** The same for many at once. */
export async function appendCatalogDecisions(
  tx: Queryable,
  now: Date,
  decisions: readonly CatalogDecision[],
): Promise<void> {
  await appendDecisions(
    tx,
    decisions.map((decision) => ({ ...decision, service: SERVICE })),
    now,
  );
}
