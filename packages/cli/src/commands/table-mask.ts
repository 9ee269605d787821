import { type Command, Option } from "@commander-js/extra-typings";
import type { Mask } from "@lapse/sdk";
import { confirm } from "../confirm.ts";
import type { Run } from "../program.ts";

const MASKS = ["null", "redact", "hash", "last"] as const satisfies readonly Mask[];
const EVERYBODY = "*";
const FOR = "a subject, role:reader …, or * for all but owner and admins";

/** `table mask set` and `table mask clear`. */
export function addTableMasks(tables: Command, run: Run): void {
  const masks = tables
    .command("mask")
    .description("column masks: what somebody sees in place of a column's values");

  masks
    .command("set <table> <column>")
    .description("set or replace the mask of a column for somebody")
    .addOption(
      new Option(
        "--mask <mask>",
        "null; redact: a fixed text; hash: SHA-256; last: the last 4 characters",
      )
        .choices(MASKS)
        .makeOptionMandatory(),
    )
    .option("--for <subject>", FOR, EVERYBODY)
    .action((name, column, { mask, for: applies_to }) =>
      run(async ({ client, environment, output }) => {
        const wanted = { mask, applies_to };
        const access = await client.tables.access.setMask(environment, name, column, wanted);
        output.show(
          access,
          () => `Column ${column} of ${name} is shown as ${mask} to ${applies_to}.`,
        );
      }),
    );

  masks
    .command("clear <table> <column>")
    .description("remove the mask of a column for somebody: its values can be seen")
    .option("--for <subject>", FOR, EVERYBODY)
    .option("--yes", "do not ask")
    .action((name, column, { for: applies_to, yes }) =>
      run(async ({ client, environment, output }) => {
        await confirm(`The values of ${column} in ${name} can be seen by ${applies_to} then.`, yes);
        const whom = { applies_to };
        const access = await client.tables.access.removeMask(environment, name, column, whom);
        output.show(
          access,
          () => `The mask of ${column} for ${applies_to} is removed from ${name}.`,
        );
      }),
    );
}
