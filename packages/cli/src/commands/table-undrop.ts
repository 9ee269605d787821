import type { Command } from "@commander-js/extra-typings";
import { collect } from "../collect.ts";
import { droppedTable, expiryRemark } from "../output/tables.ts";
import { quantity } from "../output/words.ts";
import type { Run } from "../program.ts";

/** `table undrop` and `table dropped` (T28, T29). */
export function addTableUndrop(tables: Command, run: Run): void {
  tables
    .command("undrop <table>")
    .description("bring back the table dropped last under this name, with its data and rules")
    .option("--id <id>", "this one of several dropped under the name (see: table dropped NAME)")
    .option("--as <name>", "bring it back under another name in the same namespace")
    .action((name, options) =>
      run(async ({ client, environment, output }) => {
        const restored = await client.tables.undrop(environment, name, options);
        const rows = quantity(restored.row_count, "row");
        output.show(restored, () =>
          `Brought back ${restored.full_name} with ${rows}. ${expiryRemark(restored)}`.trim(),
        );
      }),
    );

  tables
    .command("dropped [table]")
    .description("list dropped tables that can still be brought back; of a name: all generations")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const which = name === undefined ? {} : { name };
        const items = await collect(client.tables.dropped(environment, which));
        output.show({ items, next_cursor: null }, () => droppedTable(items, environment, name));
      }),
    );
}
