import { newId } from "@lapse/kit";
import type { Decision } from "../../src/domain/decision.ts";

/** A decision to drop a table, with `change` applied. */
export function aDecision(change: Partial<Decision> = {}): Decision {
  return {
    id: newId(),
    at: new Date("2026-03-01T00:00:00.000Z"),
    type: "TABLE_DROPPED",
    service: "catalog",
    tenant: "local",
    actor: "",
    resource: {
      kind: "table",
      id: "0197f3a0-0000-7000-8000-0000000000aa",
      name: "bronze.trial",
      environment: "dev",
    },
    outcome: "done",
    reason: "retention",
    details: { retention: { source: "table", days: 30 } },
    runId: "0197f3a0-0000-7000-8000-0000000000bb",
    traceId: "",
    source: "lapse.catalog",
    sourceSequence: 1n,
    ...change,
  };
}
