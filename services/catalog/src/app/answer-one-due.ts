import { isTransient, type Queryable, toLapseError, withTransaction } from "@lapse/kit";
import { dropExpired } from "../domain/drop.ts";
import {
  type DueConfirmation,
  type DueTable,
  decideDue,
  type ExpiredRetention,
  type KeptReason,
} from "../domain/due.ts";
import { publishTableDropped, publishTableKept } from "../events/table-events.ts";
import { recordAnswer } from "../store/due-answers.ts";
import { findEnvironment } from "../store/environments.ts";
import { activeHolds } from "../store/holds.ts";
import { transactionTime } from "../store/now.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { findTable, lockTable, saveTable } from "../store/tables.ts";
import { tableResource } from "./access.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { retentionDetails } from "./retention-details.ts";
import type { Settlement } from "./settle-retentions.ts";

/** A due event and the trace it came with. */
export interface DueEvent {
  readonly due: DueTable;
  readonly traceparent?: string | undefined;
}

/**
 * Drops or keeps one due table, unless the event has been answered. Gives what retention-policy must settle.
 * A failure that will not pass is itself the answer, so that the sweep learns of it.
 *
 * @throws transient errors, with nothing done.
 */
export async function answerOneDue(
  deps: CatalogDeps,
  event: DueEvent,
  confirmation: DueConfirmation | undefined,
): Promise<Settlement | undefined> {
  try {
    return await decideOne(deps, event, confirmation);
  } catch (error) {
    const failure = toLapseError(error);
    if (isTransient(failure)) throw failure;
    deps.log.error({ err: error, table_id: event.due.tableId }, "a due table could not be handled");
    await recordFailure(deps, event, failure.reason);
    return undefined;
  }
}

async function decideOne(
  deps: CatalogDeps,
  event: DueEvent,
  confirmation: DueConfirmation | undefined,
): Promise<Settlement | undefined> {
  const { due } = event;
  const outcome = await withTransaction(deps.pool, async (tx) => {
    const entry = await lockForDecision(tx, due);
    const now = await transactionTime(tx);
    const decision = decideDue({
      due,
      confirmation,
      table: entry?.table,
      environment: entry?.environment,
      holds: entry ? await activeHolds(tx, due.tableId, now) : [],
      now,
    });
    const answer = decision.kind === "drop" ? "dropped" : decision.reason;
    if (!(await recordAnswer(tx, { ...due, answer }, now))) return undefined;
    if (decision.kind === "keep") await keep(tx, now, event, entry, decision, "kept");
    else if (entry) await drop(tx, now, event, entry, decision.retention, deps);
    return { entry, decision };
  });
  if (!outcome) return undefined;
  const { entry, decision } = outcome;
  if (decision.kind === "drop") {
    deps.metrics.dropped("retention");
    return undefined;
  }
  deps.metrics.kept(decision.reason);
  return entry && decision.settle && { entry, ahead: decision.settle };
}

/** The table locked for update, then its environment against change: whatever is under way has ended or waits. */
async function lockForDecision(
  tx: Queryable,
  due: DueTable,
): Promise<TableInEnvironment | undefined> {
  const entry = await lockTable(tx, due.tableId);
  if (!entry) return undefined;
  const { environmentId } = entry.table;
  const environment = await findEnvironment(tx, { environmentId }, "share");
  return environment && { ...entry, environment };
}

async function drop(
  tx: Queryable,
  now: Date,
  { due, traceparent }: DueEvent,
  before: TableInEnvironment,
  retention: ExpiredRetention,
  { undo }: CatalogDeps,
): Promise<void> {
  const table = dropExpired(before.table, now, undo);
  const after = { ...before, table };
  await saveTable(tx, table);
  await publishTableDropped(tx, after, { sweepId: due.sweepId, traceparent });
  await appendCatalogDecision(tx, now, {
    type: "TABLE_DROPPED",
    tenant: table.tenant,
    resource: tableResource(after),
    outcome: "done",
    reason: "retention",
    details: {
      retention: retentionDetails(retention),
      undo_until: table.drop?.undoUntil.toISOString() ?? "",
    },
    runId: due.sweepId,
    traceparent,
  });
}

async function keep(
  tx: Queryable,
  now: Date,
  { due, traceparent }: DueEvent,
  entry: TableInEnvironment | undefined,
  { reason, detail }: { reason: KeptReason; detail?: string },
  outcome: "kept" | "failed",
): Promise<void> {
  await publishTableKept(tx, due, { reason, detail }, { traceparent });
  const known = entry && entry.table.tenant === due.tenant ? tableResource(entry) : undefined;
  await appendCatalogDecision(tx, now, {
    type: "TABLE_KEPT",
    tenant: due.tenant,
    resource: known ?? { kind: "table", id: due.tableId, name: "", environment: "" },
    outcome,
    reason,
    details: detail === undefined ? {} : { detail },
    runId: due.sweepId,
    traceparent,
  });
}

/** Answers with `failed`, in a transaction of its own, since the one that failed is gone. */
async function recordFailure(deps: CatalogDeps, event: DueEvent, cause: string): Promise<void> {
  const { due } = event;
  const recorded = await withTransaction(deps.pool, async (tx) => {
    const now = await transactionTime(tx);
    if (!(await recordAnswer(tx, { ...due, answer: "failed" }, now))) return false;
    const entry = await findTable(tx, due.tableId);
    await keep(tx, now, event, entry, { reason: "failed", detail: cause }, "failed");
    return true;
  });
  if (recorded) deps.metrics.kept("failed");
}
