import { Command } from "@commander-js/extra-typings";
import { daysArgument } from "../arguments.ts";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import { UsageError } from "../exit.ts";
import {
  environmentFields,
  environmentRetentionFields,
  environmentTable,
} from "../output/environments.ts";
import { quantity } from "../output/words.ts";
import type { Run } from "../program.ts";
import { environmentRoles } from "./role.ts";

export function envCommand(run: Run): Command {
  const command = new Command("env").description("environments, their retention and roles");

  command
    .command("create <name>")
    .description("create an environment")
    .option("--protected", "its tables never expire")
    .action((name, options) =>
      run(async ({ client, output }) => {
        const settings = { protected: options.protected ?? false };
        const made = await client.environments.create(name, settings);
        output.show(made, () => `Created environment ${made.name}.`);
      }),
    );

  command
    .command("list")
    .description("list environments")
    .action(() =>
      run(async ({ client, output }) => {
        const items = await collect(client.environments.list());
        output.show({ items, next_cursor: null }, () => environmentTable(items));
      }),
    );

  command
    .command("get <name>")
    .description("show an environment, and what you may do in it")
    .action((name) =>
      run(async ({ client, output }) => {
        const environment = await client.environments.get(name);
        output.show(environment, () => environmentFields(environment));
      }),
    );

  command
    .command("protect <name>")
    .description("let none of its tables expire")
    .action((name) =>
      run(async ({ client, output }) => {
        const environment = await client.environments.protect(name);
        output.show(
          environment,
          () => `Environment ${name} is protected: its tables never expire.`,
        );
      }),
    );

  command
    .command("unprotect <name>")
    .description("let its tables expire again")
    .action((name) =>
      run(async ({ client, output }) => {
        const environment = await client.environments.unprotect(name);
        output.show(
          environment,
          () => `Environment ${name} is no longer protected: tables with a retention expire again.`,
        );
      }),
    );

  command
    .command("delete <name>")
    .description("delete an environment that has no tables, dropped ones included")
    .option("--yes", "do not ask")
    .action((name, { yes }) =>
      run(async ({ client, output }) => {
        await confirm(
          `Environment ${name}, with its namespaces, projects and roles, is deleted.`,
          yes,
        );
        await client.environments.delete(name);
        output.show({ name, deleted: true }, () => `Environment ${name} is deleted.`);
      }),
    );

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
          output.show(retention, () => environmentRetentionFields(name, retention));
          return;
        }
        if (days !== undefined) await confirm(expiryWarning(name, days), yes);
        const retention = await client.environments.setRetention(name, days ?? null);
        output.show(retention, () => environmentRetentionFields(name, retention));
      }),
    );

  command.addCommand(environmentRoles(run));
  return command as unknown as Command;
}

function expiryWarning(name: string, days: number): string {
  const period = quantity(days, "day");
  return `Every managed table of ${name} without a retention of its own will expire ${period} after its last activity, at the earliest ${period} from now.`;
}
