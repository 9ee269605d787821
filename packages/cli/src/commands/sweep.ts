import { Command } from "@commander-js/extra-typings";
import type { Sweep, SweepRun } from "@lapse/sdk";
import { limitArgument } from "../arguments.ts";
import { FailedError } from "../exit.ts";
import { fields, table } from "../output/print.ts";
import { ruleText } from "../output/rule.ts";
import { instantText } from "../output/time.ts";
import type { Run } from "../program.ts";

export function sweepCommand(run: Run): Command {
  const command = new Command("sweep").description("the runs that drop expired tables");

  command
    .command("run")
    .description("run one now")
    .option("--dry-run", "show what it would drop; change nothing")
    .action(({ dryRun }) =>
      run(async ({ client, output }) => {
        const result = await client.sweeps.run({ dryRun: dryRun ?? false });
        output.show(result, () => runText(result));
        if (result.sweep?.status === "held") {
          throw new FailedError(
            `The sweep was held back (${result.sweep.held_reason}); nothing was dropped. See: lapse ops status`,
          );
        }
      }),
    );

  command
    .command("list")
    .description("list sweeps, newest first")
    .option("--limit <n>", "how many", limitArgument, 20)
    .action(({ limit }) =>
      run(async ({ client, output }) => {
        const page = await client.sweeps.list({ limit });
        output.show(page, () => sweepTable(page.items));
      }),
    );

  command
    .command("show <id>")
    .description("show a sweep and what became of each table")
    .action((id) =>
      run(async ({ client, output }) => {
        const sweep = await client.sweeps.get(id);
        output.show(sweep, () => sweepFields(sweep));
      }),
    );

  command
    .command("pause")
    .description("run no scheduled sweep until resumed: nothing expires")
    .option("--reason <text>", "why", "")
    .action(({ reason }) =>
      run(async ({ client, output }) => {
        await client.sweeps.pause(reason);
        output.note("Sweeps are paused: nothing expires until `lapse sweep resume`.");
      }),
    );

  command
    .command("resume")
    .description("let sweeps run again")
    .action(() =>
      run(async ({ client, output }) => {
        await client.sweeps.resume();
        output.note("Sweeps run again.");
      }),
    );
  return command as unknown as Command;
}

function runText({ sweep, would_drop: candidates }: SweepRun): string {
  if (sweep) return sweepFields(sweep);
  if (!candidates || candidates.length === 0) return "Nothing is due.";
  return table(
    ["would drop", "environment", "expired", "rule", "set by"],
    candidates.map((item) => [
      item.full_name,
      item.environment,
      instantText(item.expires_at),
      ruleText(item) ?? "",
      item.set_by ?? "",
    ]),
  );
}

function sweepTable(items: readonly Sweep[]): string {
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

function sweepFields(sweep: Sweep): string {
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
