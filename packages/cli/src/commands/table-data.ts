import type { Command } from "@commander-js/extra-typings";
import { collect } from "../collect.ts";
import { filesTable, holdTable, readsTable } from "../output/table-data.ts";
import type { Run } from "../program.ts";

/** `table files`, `table reads` and `table hold list`: what a table is made of, and what uses it. */
export function addTableData(tables: Command, run: Run): void {
  tables
    .command("files <table>")
    .description("list the files of the current snapshot")
    .option("--applies-policies", "you apply its row filters and column masks before showing rows")
    .action((name, { appliesPolicies }) =>
      run(async ({ client, environment, output }) => {
        const options = appliesPolicies ? { appliesPolicies } : {};
        const found = await client.tables.files(environment, name, options);
        output.show({ ...found, next_cursor: null }, () => filesTable(found));
      }),
    );

  tables
    .command("reads <table>")
    .description("show its reads per day, and which systems have reported any")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const reads = await client.tables.reads(environment, name);
        output.show(reads, () => readsTable(name, reads));
      }),
    );

  tables
    .command("hold")
    .description("writes and pipeline tasks that keep a table from being dropped")
    .command("list <table>")
    .description("list those that have not ended")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const items = await collect(client.tables.holds.list(environment, name));
        output.show({ items, next_cursor: null }, () => holdTable(name, items));
      }),
    );
}
