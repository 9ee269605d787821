import { appendDecision, type DecisionEvent, type Queryable } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import type { DecidedResource } from "./access.ts";

/** What the catalog decides or refuses (T32). */
export type CatalogDecisionType =
  | "AUTHORIZATION_DENIED"
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
export async function appendCatalogDecision(
  tx: Queryable,
  now: Date,
  decision: CatalogDecision,
): Promise<void> {
  await appendDecision(tx, { ...decision, service: SERVICE }, now);
}
