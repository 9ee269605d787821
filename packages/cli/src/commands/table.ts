import { Command } from "@commander-js/extra-typings";
import type { Table } from "@lapse/sdk";
import { daysArgument, windowArgument } from "../arguments.ts";
import { collect } from "../collect.ts";
import { columnArgument } from "../columns.ts";
import { UsageError } from "../exit.ts";
import { expiringTable, expiryRemark, tableFields, tableList } from "../output/tables.ts";
import { instantText } from "../output/time.ts";
import type { Run } from "../program.ts";
import { addTableAccess } from "./table-access.ts";
import { addTableData } from "./table-data.ts";
import { addTableFilters } from "./table-filter.ts";
import { addTableMasks } from "./table-mask.ts";
import { addTableRetention } from "./table-retention.ts";
import { addTableUndrop } from "./table-undrop.ts";

export function tableCommand(run: Run): Command {
  const command = new Command("table").description("tables: create, keep, drop and bring back");

  command
    .command("create <table>")
    .description("create an empty table, e.g. bronze.scratch")
    .requiredOption("--column <name:type>", "a column; repeat it for more", columnArgument)
    .option("--description <text>", "what it is for")
    .option("--expire-after <days>", "expires so many days after its last activity", daysArgument)
    .action((name, { column, description, expireAfter }) =>
      run(async ({ client, environment, output }) => {
        const made = await client.tables.create(environment, name, {
          columns: column,
          ...(description === undefined ? {} : { description }),
          ...(expireAfter === undefined ? {} : { expireAfterDays: expireAfter }),
        });
        output.show(made, () => `Created ${made.full_name}. ${expiryRemark(made)}`.trim());
      }),
    );

  command
    .command("list")
    .description("list tables, with when they expire where that is soon")
    .option("--namespace <path>", "only this namespace and those below it")
    .action(({ namespace }) =>
      run(async ({ client, environment, output }) => {
        const within = namespace === undefined ? {} : { namespace };
        const items = await collect(client.tables.list(environment, within));
        output.show({ items, next_cursor: null }, () => tableList(items, environment));
      }),
    );

  command
    .command("get <table>")
    .description("show a table, when it expires and how to keep it")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const found = await client.tables.get(environment, name);
        output.show(found, () => tableFields(found));
      }),
    );

  command
    .command("describe <table> <text>")
    .description("say what a table is for")
    .action((name, description) =>
      run(async ({ client, environment, output }) => {
        const changed = await client.tables.update(environment, name, { description });
        output.show(changed, () => `Described ${changed.full_name}.`);
      }),
    );

  command
    .command("rename <table> <to>")
    .description("give it another name or namespace; id, data, retention and access stay")
    .action((name, to) =>
      run(async ({ client, environment, output }) => {
        if (!to.includes(".")) {
          const namespace = name.slice(0, name.lastIndexOf("."));
          throw new UsageError(`Write the new name with its namespace, e.g. ${namespace}.${to}.`);
        }
        const renamed = await client.tables.rename(environment, name, to);
        output.show(renamed, () => `${name} is ${renamed.full_name} now.`);
      }),
    );

  command
    .command("drop <table>")
    .description("drop a table; its files stay for the undo period")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const dropped = await client.tables.drop(environment, name);
        output.show(dropped, () => droppedText(dropped));
      }),
    );

  command
    .command("expiring")
    .description("list tables that expire soon, soonest first")
    .option("--within <window>", "e.g. 7d; default: the server's warning window", windowArgument)
    .action(({ within }) =>
      run(async ({ client, environment, output }) => {
        const window = within === undefined ? {} : { withinDays: within };
        const items = await collect(client.tables.expiring(environment, window));
        output.show({ items, next_cursor: null }, () => expiringTable(items, environment));
      }),
    );

  const tables = command as unknown as Command;
  addTableUndrop(tables, run);
  addTableRetention(tables, run);
  addTableData(tables, run);
  addTableAccess(tables, run);
  addTableFilters(tables, run);
  addTableMasks(tables, run);
  return tables;
}

function droppedText(dropped: Table): string {
  const until = dropped.undo_until;
  const undo = until
    ? `It can be brought back until ${instantText(until)}: lapse table undrop ${dropped.full_name} --env ${dropped.environment}`
    : "Its files are being deleted.";
  return `Dropped ${dropped.full_name}. ${undo}`;
}
