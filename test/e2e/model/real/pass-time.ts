import type { Pool } from "@lapse/kit";
import type { Stack } from "./stack.ts";

/** So many days pass in an environment. */
export interface DaysIn {
  readonly environmentId: string;
  readonly days: number;
}

/** Days of the calendar: of `on` rules, and of reads. */
const CALENDAR_DAYS = ["on_date", "rule_on", "day"];
/** Further than any two days that are stored lie apart: rows that differ in their day never meet on the way. */
const FAR = 1_000_000;

/**
 * Moves every instant that is stored about these environments and their tables into the past, in all databases by the
 * same days: as if so much time had passed. All must be quiet.
 */
export async function passTime({ pools }: Stack, passing: readonly DaysIn[]): Promise<void> {
  const { rows: tables } = await pools.catalog.query<{ table_id: string; days: number }>(
    `select t.table_id, p.days from catalog_table t
     join unnest($1::uuid[], $2::int[]) as p (environment_id, days) using (environment_id)`,
    [passing.map(({ environmentId }) => environmentId), passing.map(({ days }) => days)],
  );
  const keys = {
    table_id: tables.map((row) => [row.table_id, row.days] as const),
    environment_id: passing.map((each) => [each.environmentId, each.days] as const),
  };
  const names = ["catalog", "retention-policy", "lifecycle-evaluator"] as const;
  await Promise.all(
    names.map(async (name) => {
      for (const table of await datedTables(pools[name])) {
        await moveBack(pools[name], table, keys[table.key]);
      }
    }),
  );
}

interface DatedTable {
  readonly name: string;
  readonly key: "table_id" | "environment_id";
  readonly instants: readonly string[];
  readonly dates: readonly string[];
}

const known = new WeakMap<Pool, Promise<readonly DatedTable[]>>();

/** The tables of a service that hold instants of one table or environment each, and which columns those are. */
function datedTables(pool: Pool): Promise<readonly DatedTable[]> {
  const found = known.get(pool) ?? findDatedTables(pool);
  known.set(pool, found);
  return found;
}

async function findDatedTables(pool: Pool): Promise<readonly DatedTable[]> {
  const { rows } = await pool.query<{ table_name: string; column_name: string; data_type: string }>(
    `select c.table_name, c.column_name, c.data_type from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE'`,
  );
  const names = [...new Set(rows.map((row) => row.table_name))];
  return names.flatMap((name): DatedTable[] => {
    const columns = rows.filter((row) => row.table_name === name);
    const has = (column: string) => columns.some((each) => each.column_name === column);
    const key = has("table_id") ? "table_id" : has("environment_id") ? "environment_id" : undefined;
    const of = (wanted: (column: (typeof rows)[number]) => boolean) =>
      columns.filter(wanted).map((column) => column.column_name);
    const instants = of((column) => column.data_type === "timestamp with time zone");
    const dates = of((column) => CALENDAR_DAYS.includes(column.column_name));
    return key && instants.length + dates.length > 0 ? [{ name, key, instants, dates }] : [];
  });
}

async function moveBack(
  pool: Pool,
  { name, key, instants, dates }: DatedTable,
  moving: readonly (readonly [string, number])[],
): Promise<void> {
  const far = dates.map((column) => `${column} = ${column} - ${FAR}`);
  const back = dates.map((column) => `${column} = ${column} + ${FAR} - p.days`);
  const ago = instants.map(
    (column) => `${column} = ${column} - make_interval(hours => 24 * p.days)`,
  );
  for (const sets of dates.length > 0 ? [far, [...back, ...ago]] : [ago]) {
    await pool.query(
      `update ${name} t set ${sets.join(", ")}
       from unnest($1::uuid[], $2::int[]) as p (id, days) where t.${key} = p.id`,
      [moving.map(([id]) => id), moving.map(([, days]) => days)],
    );
  }
}
