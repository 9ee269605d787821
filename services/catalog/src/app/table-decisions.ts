import type { Queryable } from "@lapse/kit";
import type { TableInEnvironment } from "../store/table-row.ts";
import { tableResource } from "./access.ts";
import type { Caller } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";

/** Records that a table can be seen from now on. */
export const recordTableCreated = (
  tx: Queryable,
  now: Date,
  entry: TableInEnvironment,
  { principal, traceparent }: Caller,
) =>
  appendCatalogDecision(tx, now, {
    type: "TABLE_CREATED",
    tenant: entry.table.tenant,
    actor: principal.subject,
    resource: tableResource(entry),
    outcome: "done",
    reason: "request",
    details: { kind: entry.table.kind, owner: entry.table.owner },
    traceparent,
  });
