/** The one row a statement must give; without it the statement itself is wrong. */
export function exactlyOne<T>(rows: readonly T[], what: string): T {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`${what}: expected 1 row, not ${rows.length}`);
  return row;
}
