import { Command } from "@commander-js/extra-typings";
import { type Environment, type EnvironmentRetention, eachItem } from "@lapse/sdk";
import { daysArgument } from "../arguments.ts";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import { UsageError } from "../exit.ts";
import { fields, table } from "../output/print.ts";
import { instantText } from "../output/time.ts";
import type { Run } from "../program.ts";

export function envCommand(run: Run): Command {
  const command = new Command("env").description("environments and their retention");

  command
    .command("create <name>")
    .description("create an environment")
    .option("--protected", "its tables never expire")
    .action((name, options) =>
      run(async ({ client, output }) => {
        const made = await client.environments.create(name, {
          protected: options.protected ?? false,
        });
        output.show(made, () => `Created environment ${made.name}.`);
      }),
    );

  command
    .command("list")
    .description("list environments")
    .action(() =>
      run(async ({ client, output }) => {
        const items = await collect(eachItem((page) => client.environments.list(page)));
        output.show({ items, next_cursor: null }, () => environmentTable(items));
      }),
    );

  command
    .command("get <name>")
    .description("show an environment")
    .action((name) =>
      run(async ({ client, output }) => {
        const environment = await client.environments.get(name);
        output.show(environment, () => environmentFields(environment));
      }),
    );

  for (const [verb, isProtected, told] of [
    ["protect", true, "is protected: its tables never expire"],
    ["unprotect", false, "is no longer protected: tables with a retention expire again"],
  ] as const) {
    command
      .command(`${verb} <name>`)
      .description(isProtected ? "let none of its tables expire" : "let its tables expire again")
      .action((name) =>
        run(async ({ client, output }) => {
          const environment = await client.environments.protect(name, isProtected);
          output.show(environment, () => `Environment ${environment.name} ${told}.`);
        }),
      );
  }

  command
    .command("retention <name>")
    .description(
      "show, set or turn off the retention of all its tables without a rule of their own",
    )
    .option("--days <n>", "days after a table's last activity, 1 to 3650", daysArgument)
    .option("--off", "turn it off")
    .option("--yes", "do not ask")
    .action((name, { days, off, yes }) =>
      run(async ({ client, output }) => {
        if (days !== undefined && off) throw new UsageError("Give --days or --off, not both.");
        if (days === undefined && !off) {
          const retention = await client.environments.retention(name);
          output.show(retention, () => retentionFields(name, retention));
          return;
        }
        const wanted = days ?? null;
        if (wanted !== null && !yes) {
          await confirm(
            `Every managed table of ${name} without a retention of its own will expire ${daysText(wanted)} after its last activity, at the earliest ${daysText(wanted)} from now. Go on?`,
          );
        }
        const retention = await client.environments.setRetention(name, wanted);
        output.show(retention, () => retentionFields(name, retention));
      }),
    );
  return command as unknown as Command;
}

function environmentTable(items: readonly Environment[]): string {
  if (items.length === 0) return "No environments yet. Create one: lapse env create dev";
  return table(
    ["name", "protected", "retention", "created by"],
    items.map((item) => [
      item.name,
      item.protected ? "yes" : "no",
      item.retention_days === null ? "–" : daysText(item.retention_days),
      item.created_by,
    ]),
  );
}

function environmentFields(environment: Environment): string {
  return fields([
    ["name", environment.name],
    ["protected", environment.protected ? "yes, its tables never expire" : "no"],
    [
      "retention",
      environment.retention_days === null
        ? "none"
        : `${daysText(environment.retention_days)}, set by ${environment.retention_set_by ?? "–"}`,
    ],
    ["table bucket", environment.table_bucket],
    ["created", `${instantText(environment.created_at)} by ${environment.created_by}`],
    ["id", environment.id],
  ]);
}

function retentionFields(name: string, retention: EnvironmentRetention): string {
  const rule =
    retention.days === null
      ? "none: only tables with a retention of their own expire"
      : `${daysText(retention.days)} after a table's last activity`;
  return fields([
    ["environment", name],
    ["retention", rule],
    ["before", formerDays(retention)],
    ["set by", retention.set_by],
    ["set at", retention.set_at ? instantText(retention.set_at) : null],
  ]);
}

function daysText(days: number): string {
  return days === 1 ? "1 day" : `${days} days`;
}

function formerDays({ previous_days: days }: EnvironmentRetention): string | null {
  if (days === undefined) return null;
  return days === null ? "none" : daysText(days);
}
