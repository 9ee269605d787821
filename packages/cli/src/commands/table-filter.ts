import { type Command, Option } from "@commander-js/extra-typings";
import type { FilterOperator } from "@lapse/sdk";
import { severalArgument } from "../arguments.ts";
import { confirm } from "../confirm.ts";
import { UsageError } from "../exit.ts";
import { quantity } from "../output/words.ts";
import type { Run } from "../program.ts";

const OPERATORS = [
  "=",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "is null",
  "is not null",
] as const satisfies readonly FilterOperator[];

const EVERYBODY = "*";

/** `table filter set` and `table filter clear`. */
export function addTableFilters(tables: Command, run: Run): void {
  const filters = tables
    .command("filter")
    .description("row filters: which rows somebody sees of a table");

  filters
    .command("set <table> <filter>")
    .description("set or replace the row filter of that name, e.g. eu-only")
    .requiredOption("--column <name>", "what is compared")
    .addOption(new Option("--operator <operator>", "how").choices(OPERATORS).makeOptionMandatory())
    .option("--value <text>", "with what; repeat it for more (in)", severalArgument)
    .option(
      "--for <subject>",
      "a subject, role:reader …, or * for all but owner and admins",
      EVERYBODY,
    )
    .action((name, filter, { column, operator, value: values = [], for: applies_to }) =>
      run(async ({ client, environment, output }) => {
        checkValues(operator, values.length);
        const wanted = { column, operator, values, applies_to };
        const access = await client.tables.access.setFilter(environment, name, filter, wanted);
        const all = access.row_filters.length;
        output.show(
          access,
          () => `Row filter ${filter} is set: ${name} has ${quantity(all, "filter")}.`,
        );
      }),
    );

  filters
    .command("clear <table> <filter>")
    .description("remove a row filter: whom it was for sees the rows that it hid")
    .option("--yes", "do not ask")
    .action((name, filter, { yes }) =>
      run(async ({ client, environment, output }) => {
        await confirm(`Rows of ${name} that row filter ${filter} hides can be seen then.`, yes);
        const access = await client.tables.access.removeFilter(environment, name, filter);
        output.show(access, () => `Row filter ${filter} is removed from ${name}.`);
      }),
    );
}

/** How many values an operator takes; a wrong number is said before anything is sent. */
function checkValues(operator: FilterOperator, given: number): void {
  switch (operator) {
    case "is null":
    case "is not null":
      if (given > 0) throw new UsageError(`${operator} takes no --value.`);
      return;
    case "in":
      if (given === 0) throw new UsageError("in needs --value, once for each value.");
      return;
    default:
      if (given !== 1) throw new UsageError(`${operator} needs exactly one --value.`);
  }
}
