import type { DuckDBConnection } from "@duckdb/node-api";
import type { Column, FilterOperator, RowFilterToApply } from "@lapse/sdk";
import { FailedError } from "../exit.ts";
import { quoteName, quoteText } from "./identifiers.ts";

const COMPARISONS: Readonly<Record<string, string>> = {
  "=": "=",
  "!=": "<>",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
} satisfies Partial<Record<FilterOperator, string>>;

/**
 * A row filter as a condition on its column. Its values are literals of the column's own type, and nothing else: text
 * in them is text. A row for which the comparison is neither true nor false, since the column is null, is not shown.
 */
export async function filterExpression(
  engine: DuckDBConnection,
  filter: RowFilterToApply,
  column: Column,
): Promise<string> {
  const name = quoteName(column.name);
  const { operator, values } = filter;
  if (operator === "is null" || operator === "is not null") {
    if (values.length > 0) throw unknown(filter);
    return `${name} ${operator === "is null" ? "IS NULL" : "IS NOT NULL"}`;
  }
  const literals = values.map((value) => literal(value, column));
  await requireLiterals(engine, literals, column);
  if (operator === "in") {
    if (literals.length === 0) throw unknown(filter);
    return `${name} IN (${literals.join(", ")})`;
  }
  const [only] = literals;
  const comparison = COMPARISONS[operator];
  if (comparison === undefined || only === undefined || literals.length > 1) throw unknown(filter);
  return `${name} ${comparison} ${only}`;
}

/** The type is the engine's own word, or a checked one of the catalog's. */
const literal = (value: string, { type }: Column): string => `CAST(${quoteText(value)} AS ${type})`;

/** A value that is none of the column's type is said before any row is read, without the value. */
async function requireLiterals(
  engine: DuckDBConnection,
  literals: readonly string[],
  { name, type }: Column,
): Promise<void> {
  try {
    await engine.run(`SELECT ${literals.join(", ")}`);
  } catch (cause) {
    throw new FailedError(
      `A row filter on column ${name} compares it with what is no ${type}; ask the table's owner to set it anew.`,
      { cause },
    );
  }
}

const unknown = ({ column, operator }: RowFilterToApply): FailedError =>
  new FailedError(
    `A row filter on column ${column} (${operator}) is not one that this version of lapse can apply: update it.`,
  );
