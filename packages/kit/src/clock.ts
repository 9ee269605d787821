import type { Queryable } from "./postgres.ts";

/** The only source of the time: every decision about what is due takes its "now" from here. */
export interface Clock {
  now(): Promise<Date>;
}

/**
 * The database's clock, in milliseconds. It is rounded as a `timestamptz(3)` column rounds, so a time
 * stored before is never read as later than this. Inside a transaction: the time at its start.
 */
export const databaseClock = (db: Queryable): Clock => ({
  async now() {
    const { rows } = await db.query<{ now: Date }>("select now()::timestamptz(3) as now");
    const [row] = rows;
    if (!row) throw new Error("select now() gave no row");
    return row.now;
  },
});

/** A clock that stands still, or shows what `at` returns, for tests. */
export const fixedClock = (at: Date | (() => Date)): Clock => ({
  now: async () => new Date(typeof at === "function" ? at() : at),
});
