import { appendDecisions, type DecisionEvent, type Queryable } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import type { DecidedResource } from "./access.ts";

/** What the catalog decides or refuses (T32). */
type CatalogDecisionType =
  | "API_KEY_CREATED"
  | "API_KEY_REVOKED"
  | "COLUMN_MASK_REMOVED"
  | "COLUMN_MASK_SET"
  | "ENVIRONMENT_CREATED"
  | "ENVIRONMENT_DELETED"
  | "ENVIRONMENT_PROTECTED"
  | "ENVIRONMENT_UNPROTECTED"
  | "NAMESPACE_CREATED"
  | "NAMESPACE_DELETED"
  | "PROJECT_DEPLOYED"
  | "PROJECT_UNDEPLOYED"
  | "PURGE_CONFIRMED"
  | "PURGE_HELD"
  | "ROLE_GRANTED"
  | "ROLE_REVOKED"
  | "ROW_FILTER_REMOVED"
  | "ROW_FILTER_SET"
  | "TABLE_CREATED"
  | "TABLE_DROPPED"
  | "TABLE_GRANTED"
  | "TABLE_GRANT_REVOKED"
  | "TABLE_KEPT"
  | "TABLE_PURGED"
  | "TABLE_PURGE_FAILED"
  | "TABLE_RENAMED"
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
