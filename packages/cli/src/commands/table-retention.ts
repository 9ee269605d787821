import type { Command } from "@commander-js/extra-typings";
import type { Retention, RetentionRule } from "@lapse/sdk";
import { daysArgument } from "../arguments.ts";
import { UsageError } from "../exit.ts";
import { fields } from "../output/print.ts";
import { ruleText } from "../output/rule.ts";
import { instantText } from "../output/time.ts";
import type { Run } from "../program.ts";

export function addTableRetention(tables: Command, run: Run): void {
  tables
    .command("retention <table>")
    .description("show when a table expires, or set the rule: exactly one of --days, --on, --never")
    .option("--days <n>", "days after its last activity, 1 to 3650", daysArgument)
    .option("--on <date>", "from midnight UTC of that day, YYYY-MM-DD")
    .option("--never", "never, whatever the environment says")
    .action((name, options) =>
      run(async ({ client, environment, output }) => {
        const rule = ruleOf(options);
        const retention = rule
          ? await client.tables.setRetention(environment, name, rule)
          : await client.tables.retention(environment, name);
        output.show(retention, () => retentionFields(name, retention));
      }),
    );
}

/** The rule that the options ask for; none asks to show it. */
export function ruleOf(options: {
  readonly days?: number | undefined;
  readonly on?: string | undefined;
  readonly never?: true | undefined;
}): RetentionRule | null {
  const { days, on, never } = options;
  const given = [days, on, never].filter((value) => value !== undefined).length;
  if (given > 1) throw new UsageError("Give exactly one of --days, --on and --never.");
  if (days !== undefined) return { days };
  if (on !== undefined) return { on };
  return never ? { never: true } : null;
}

function retentionFields(name: string, retention: Retention): string {
  return fields([
    ["table", name],
    ["expires", expiryText(retention)],
    ["rule", ruleText(retention)],
    ["set by", retention.set_by],
    ["set at", retention.set_at ? instantText(retention.set_at) : null],
    [
      "last activity",
      retention.last_activity_at
        ? `${instantText(retention.last_activity_at)}${retention.last_activity_kind ? `, ${retention.last_activity_kind}` : ""}`
        : null,
    ],
    ["change", shortenedText(retention.shortened)],
  ]);
}

function expiryText(retention: Retention): string {
  if (retention.kept === "protected") return "never: its environment is protected";
  if (retention.kept === "project_asset") return "never: a deployed project builds it";
  if (retention.expires_at) return instantText(retention.expires_at);
  return retention.never ? "never" : "it does not expire: no retention is set";
}

function shortenedText(shortened: boolean | null | undefined): string | null {
  if (shortened === undefined) return null;
  if (shortened === null) return "whether it expires sooner than before could not be told";
  return shortened ? "it expires sooner than before" : "it does not expire sooner than before";
}
