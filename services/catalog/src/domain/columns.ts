import type { Column } from "./table.ts";

const MAX_COLUMNS = 2_000;
/** All of a table's columns together: a page of tables has to fit into one message. */
const MAX_TOTAL_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 255;
const MAX_TYPE_BYTES = 4_096;
const CONTROL = /\p{Cc}/u;

/** A fault of one request field; `field` is a JSON pointer. */
export interface FieldFault {
  readonly field: string;
  readonly description: string;
}

/** Everything wrong with a list of columns; empty when it may be stored. */
export function columnFaults(columns: readonly Column[]): FieldFault[] {
  if (columns.length > MAX_COLUMNS) {
    return [{ field: "/columns", description: `a table has at most ${MAX_COLUMNS} columns` }];
  }
  const bytes = columns.reduce((sum, { name, type }) => sum + Buffer.byteLength(name + type), 0);
  if (bytes > MAX_TOTAL_BYTES) {
    const description = `the names and types of all columns have at most ${MAX_TOTAL_BYTES} bytes together`;
    return [{ field: "/columns", description }];
  }
  const seen = new Set<string>();
  return columns.flatMap((column, index) => {
    const faults: FieldFault[] = [];
    const name = textFault(column.name, MAX_NAME_BYTES);
    if (name)
      faults.push({ field: `/columns/${index}/name`, description: `a column's name ${name}` });
    const type = textFault(column.type, MAX_TYPE_BYTES);
    if (type)
      faults.push({ field: `/columns/${index}/type`, description: `a column's type ${type}` });
    if (seen.has(column.name)) {
      faults.push({
        field: `/columns/${index}/name`,
        description: `there are two columns of this name; rename one`,
      });
    }
    seen.add(column.name);
    return faults;
  });
}

function textFault(text: string, maxBytes: number): string | undefined {
  if (text === "") return "is required";
  if (Buffer.byteLength(text) > maxBytes) return `has at most ${maxBytes} bytes in UTF-8`;
  if (CONTROL.test(text)) return "has no control characters";
  if (text.trim() !== text) return "neither begins nor ends with a space";
  return undefined;
}
