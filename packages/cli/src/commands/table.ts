import { Command } from "@commander-js/extra-typings";
import { type ExpiringTable, eachItem, type Table } from "@lapse/sdk";
import { daysArgument, windowArgument } from "../arguments.ts";
import { collect } from "../collect.ts";
import { columnArgument } from "../columns.ts";
import { droppedTable, expiringTable, tableFields, tableList } from "../output/tables.ts";
import { instantText } from "../output/time.ts";
import type { Run } from "../program.ts";
import { addTableRetention } from "./table-retention.ts";

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
        const items = await collect<Table>(
          eachItem((page) => client.tables.list(environment, { ...page, ...within })),
        );
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
    .command("drop <table>")
    .description("drop a table; its files stay for the undo period")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const dropped = await client.tables.drop(environment, name);
        output.show(
          dropped,
          () =>
            `Dropped ${dropped.full_name}. It can be brought back until ${instantText(dropped.undo_until)}: lapse table undrop ${dropped.full_name}`,
        );
      }),
    );

  command
    .command("undrop <table>")
    .description("bring back the table dropped last under this name, with its data and rules")
    .option("--id <id>", "this one of several dropped under the name (see: table dropped)")
    .option("--as <name>", "bring it back under another name in the same namespace")
    .action((name, options) =>
      run(async ({ client, environment, output }) => {
        const restored = await client.tables.undrop(environment, name, options);
        const rows = `${restored.row_count} ${restored.row_count === 1 ? "row" : "rows"}`;
        output.show(restored, () =>
          `Brought back ${restored.full_name} with ${rows}. ${expiryRemark(restored)}`.trim(),
        );
      }),
    );

  command
    .command("dropped")
    .description("list dropped tables that can still be brought back")
    .action(() =>
      run(async ({ client, environment, output }) => {
        const items = await collect<Table>(
          eachItem((page) => client.tables.dropped(environment, page)),
        );
        output.show({ items, next_cursor: null }, () => droppedTable(items, environment));
      }),
    );

  command
    .command("expiring")
    .description("list tables that expire soon, soonest first")
    .option("--within <window>", "e.g. 7d; default: the server's warning window", windowArgument)
    .action(({ within }) =>
      run(async ({ client, environment, output }) => {
        const window = within === undefined ? {} : { withinDays: within };
        const items = await collect<ExpiringTable>(
          eachItem((page) => client.tables.expiring(environment, { ...page, ...window })),
        );
        output.show({ items, next_cursor: null }, () => expiringTable(items, environment));
      }),
    );

  addTableRetention(command as unknown as Command, run);
  return command as unknown as Command;
}

function expiryRemark(found: Table): string {
  return found.expires_at ? `It expires ${instantText(found.expires_at)}.` : "";
}
