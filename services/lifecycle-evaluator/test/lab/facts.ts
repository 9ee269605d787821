import { newId } from "@lapse/kit";
import type { TableFacts } from "../../src/domain/table-facts.ts";

/** A live managed table of `local`, used a moment ago, without a rule. */
export function someFacts(facts: Partial<TableFacts> = {}): TableFacts {
  return {
    tableId: newId(),
    tenant: "local",
    environmentId: newId(),
    environment: "dev",
    namespace: "bronze",
    name: "trial",
    owner: "ana@example.org",
    kind: "managed",
    state: "live",
    projectAsset: false,
    environmentProtected: false,
    restoredAt: null,
    lastActivityAt: new Date("2026-06-01T00:00:00Z"),
    lastActivityKind: "written",
    tableRule: null,
    environmentRule: null,
    changeVersion: 1n,
    retentionVersion: 0n,
    policyVersion: 0n,
    signalFloorAt: null,
    daySeconds: 86_400,
    ...facts,
  };
}
