import type { Sweep, SweepRun } from "@lapse/sdk";
import { fields, table } from "./print.ts";
import { ruleText } from "./rule.ts";
import { sweepHoldTable } from "./sweep-holds.ts";
import { instantText } from "./time.ts";

export function sweepRunText({ sweep, would_drop: candidates, held }: SweepRun): string {
  if (sweep) return sweepFields(sweep);
  const back = held && held.length > 0 ? `\n\nHeld back:\n${sweepHoldTable(held)}` : "";
  if (!candidates || candidates.length === 0) return `Nothing would be dropped.${back}`;
  const due = table(
    ["would drop", "environment", "expired", "rule", "set by"],
    candidates.map((item) => [
      item.full_name,
      item.environment,
      instantText(item.expires_at),
      ruleText(item) ?? "",
      item.set_by ?? "",
    ]),
  );
  return `${due}${back}`;
}

export function sweepTable(items: readonly Sweep[]): string {
  if (items.length === 0) return "No sweep has run yet.";
  return table(
    ["started", "status", "due", "dropped", "kept", "failed", "id"],
    items.map((item) => [
      instantText(item.started_at),
      statusText(item),
      String(item.due),
      String(item.dropped),
      String(sum(item.kept)),
      String(item.failed),
      item.id,
    ]),
  );
}

export function sweepFields(sweep: Sweep): string {
  const kept = Object.entries(sweep.kept).map(([reason, count]) => `${count} ${reason}`);
  const summary = fields([
    ["sweep", sweep.id],
    ["status", statusText(sweep)],
    ["started", sweep.started_at ? instantText(sweep.started_at) : null],
    ["asked for by", sweep.requested_by],
    ["due", `${sweep.due}${sweep.capped ? ", more are left to the next sweep" : ""}`],
    ["dropped", String(sweep.dropped)],
    ["kept", kept.join(", ") || "0"],
    ["failed", String(sweep.failed)],
    ["held back", sweep.held_environments.join(", ") || null],
  ]);
  if (!sweep.outcomes || sweep.outcomes.length === 0) return summary;
  const rows = sweep.outcomes.map((one) => [one.name, one.outcome, one.reason ?? "", one.table_id]);
  return `${summary}\n\n${table(["table", "outcome", "reason", "id"], rows)}`;
}

function statusText(sweep: Sweep): string {
  return sweep.held_reason ? `${sweep.status}: ${sweep.held_reason}` : sweep.status;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
