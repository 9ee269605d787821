/** Quotes a name for SQL text. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text value for SQL text, where a statement takes no parameter (file names in COPY). */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Splits a dotted name as DuckDB writes it, `bronze."odd.name"`, into its parts without quotes. */
export function splitName(text: string): string[] {
  const parts: string[] = [];
  const pattern = /"((?:[^"]|"")*)"|([^."]+)/g;
  for (const match of text.matchAll(pattern)) {
    parts.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
  }
  return parts;
}
