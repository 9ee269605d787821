import { expiryOf, lastActivity } from "./expiry.ts";
import { dayOf } from "./retention.ts";
import {
  type EnvironmentModel,
  type TableModel,
  tableOf,
  withDecision,
  withTable,
} from "./state.ts";
import type { SweepSeen } from "./sweep.ts";
import { dropped } from "./tables.ts";

/** The effects of what the sweep said of these tables. */
export function take(
  model: EnvironmentModel,
  { during, outcomes }: SweepSeen,
  tableIds: Iterable<string>,
): EnvironmentModel {
  let next = model;
  for (const tableId of tableIds) {
    const table = tableOf(next, tableId);
    const said = outcomes.get(tableId);
    if (table === undefined || said === undefined) continue;
    const common = { resource: tableId, actor: "" };
    next = withDecision(next, { ...common, type: "TABLE_DUE", reason: "retention" });
    if (said.outcome === "dropped") {
      const details = { retention: explained(next, table) };
      next = withDecision(dropped(next, table, during, "retention"), {
        ...common,
        type: "TABLE_DROPPED",
        reason: "retention",
        details,
      });
    } else {
      next = withDecision(next, { ...common, type: "TABLE_KEPT", reason: said.reason });
      if (said.reason === "policy_changed") {
        // Marked for the end of the sweep: every table of the environment meets the same mismatch.
        next = withTable(next, { ...table, unsettled: false });
        next = { ...next, settling: true };
      }
    }
  }
  return next;
}

/** What a mismatch of versions showed to be half done is settled by then. */
export function settled({ settling, ...model }: EnvironmentModel): EnvironmentModel {
  return settling === true ? { ...model, unsettled: false } : model;
}

/** Why a table is dropped by its retention (T32). */
function explained(model: EnvironmentModel, table: TableModel): Readonly<Record<string, unknown>> {
  const { source, rule, setBy, expiresAt } = expiryOf(model, table);
  return {
    source,
    ...(rule?.kind === "days" && { days: rule.days }),
    ...(rule?.kind === "on" && { on: dayOf(rule.midnight) }),
    set_by: setBy,
    last_activity_at: lastActivity(table),
    expired_at: expiresAt,
  };
}
