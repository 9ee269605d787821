import { invalid } from "@lapse/kit";
import { type Column, qualifiedName, type Table } from "../domain/table.ts";

/**
 * The column that a row filter or column mask is set on.
 *
 * @throws invalid `COLUMN_NOT_FOUND`: a rule on no column would never hide anything.
 */
export function policyColumn(table: Table, field: string, name: string): Column {
  const column = table.columns.find((each) => each.name === name);
  if (column) return column;
  throw invalid(
    "COLUMN_NOT_FOUND",
    `table ${qualifiedName(table)} has no column of this name; see its columns`,
    { violations: [{ field, description: `there is no column ${name}` }] },
  );
}
