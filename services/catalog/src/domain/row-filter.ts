import type { FieldFault } from "./columns.ts";
import { appliesToFault } from "./subject.ts";
import type { Column } from "./table.ts";
import { familyOf, valueFault } from "./type-family.ts";

const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"] as const;
export type Operator = (typeof OPERATORS)[number];

/** A condition on one column, in parts: nowhere is text of a user run as SQL. */
export interface Condition {
  readonly column: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** Which rows those it applies to see: the ones for which it holds. */
export interface RowFilter extends Condition {
  /** Unique within the table. */
  readonly name: string;
  /** A subject, `role:<role>` or `*`. */
  readonly appliesTo: string;
  readonly setBy: string;
  readonly setAt: Date;
}

/** Filters on one table at most. */
export const MAX_FILTERS = 100;
/** The values of all filters of a table together, since every reader of it gets them in one message. */
export const MAX_FILTER_BYTES = 512 * 1024;

const MAX_VALUES = 1_000;
const MAX_VALUE_BYTES = 1_000;
const MAX_OWN_BYTES = 64 * 1024;
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]{0,62}$/u;

/** Everything wrong with a filter, as far as it alone tells. */
export function filterFaults(
  filter: Omit<Condition, "operator"> &
    Pick<RowFilter, "name" | "appliesTo"> & { readonly operator: string },
): FieldFault[] {
  const { name, appliesTo, column, operator, values } = filter;
  const faults: FieldFault[] = [];
  const fault = (field: string, description: string | undefined) => {
    if (description !== undefined) faults.push({ field: `/filter/${field}`, description });
  };
  fault("name", filterNameFault(name));
  fault("applies_to", appliesToFault(appliesTo));
  fault("column", column === "" ? "a column is required" : undefined);
  if (!isOperator(operator)) fault("operator", `one of ${OPERATORS.join(", ")}`);
  fault("values", countFault(operator, values.length));
  values.forEach((value, index) => {
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES || value.includes("\0")) {
      fault(`values/${index}`, `at most ${MAX_VALUE_BYTES} bytes in UTF-8, without NUL`);
    }
  });
  if (bytesOf(values) > MAX_OWN_BYTES) {
    fault("values", `the values of a filter have at most ${MAX_OWN_BYTES} bytes together`);
  }
  return faults;
}

/** What is wrong with a filter's name, or undefined. */
export const filterNameFault = (name: string): string | undefined =>
  NAME.test(name)
    ? undefined
    : "a filter's name has 1 to 63 letters, digits, _, - and ., and begins with a letter or digit";

/** What is wrong with a filter on this column, or undefined: each value must be one of the column's type. */
export function conditionFault(column: Column, { operator, values }: Condition): FieldFault[] {
  const family = familyOf(column.type);
  const faults = values.flatMap((value, index) => {
    const description = valueFault(family, value);
    return description ? [{ field: `/filter/values/${index}`, description }] : [];
  });
  const ordered = ["<", "<=", ">", ">="].includes(operator);
  if (ordered && (family === "boolean" || family === "uuid")) {
    const description = `a column of type ${column.type} has no order: =, !=, in, is null or is not null`;
    return [{ field: "/filter/operator", description }, ...faults];
  }
  return faults;
}

export const bytesOf = (values: readonly string[]): number =>
  values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);

export const isOperator = (text: string): text is Operator =>
  OPERATORS.some((operator) => operator === text);

function countFault(operator: string, count: number): string | undefined {
  switch (operator) {
    case "is null":
    case "is not null":
      return count === 0 ? undefined : "a null test has no value";
    case "in":
      return count >= 1 && count <= MAX_VALUES ? undefined : `1 to ${MAX_VALUES} values`;
    default:
      return count === 1 ? undefined : "exactly one value";
  }
}
