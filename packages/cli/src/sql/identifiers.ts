import { UsageError } from "../exit.ts";

/** Quotes a name for SQL text. */
export function quoteName(name: string): string {
  return `"${withoutNul(name).replaceAll('"', '""')}"`;
}

/** Quotes a text value for SQL text, where a statement takes no parameter (views, file names in COPY). */
export function quoteText(text: string): string {
  return `'${withoutNul(text).replaceAll("'", "''")}'`;
}

/** The engine takes a NUL for the end of the statement. */
function withoutNul(text: string): string {
  if (!text.includes("\0")) return text;
  throw new UsageError("A text with a NUL character cannot be used in a query.");
}
