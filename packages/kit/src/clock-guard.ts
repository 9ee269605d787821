import { type ClockFault, clockFault } from "./clock-fault.ts";
import { newId } from "./ids.ts";
import type { Queryable } from "./postgres.ts";

/** What is done by the clock, and how far apart, in ms. */
export interface ClockUse {
  /** Names the watch, e.g. `sweep`; each has its own. */
  readonly use: string;
  readonly intervalMs: number;
}

/** Keeps things from being done for one tenant by a clock that jumped, until it is confirmed. */
export interface ClockHold {
  /** UUIDv7: by time. */
  readonly holdId: string;
  readonly tenant: string;
  /** What the clock said at the look before … */
  readonly lastSeenAt: Date;
  /** … and at the one that raised this. */
  readonly raisedAt: Date;
  /** Null: nobody has. */
  readonly confirmedBy: string | null;
  readonly confirmedAt: Date | null;
}

/** What a look found. */
export interface ClockLook {
  /** The database clock at the look: what is done now is done by this instant. */
  readonly now: Date;
  /** Null: it goes as it should. Holds are raised by it, and stay when the next look finds nothing. */
  readonly fault: ClockFault | null;
  /** The holds that this look raised. */
  readonly raised: readonly ClockHold[];
}

/**
 * Looks at the database clock and remembers what it said. Where it jumped since the last look, a hold is raised
 * for every tenant, in place of one that is open: who confirms has seen the last jump. To be taken at every
 * turn, also while everything is held; those who look at the same time take turns.
 */
export async function lookAtClock(
  tx: Queryable,
  { use, intervalMs, tenants }: ClockUse & { tenants(): Promise<readonly string[]> },
): Promise<ClockLook> {
  const { last, now } = await noteClock(tx, use);
  const fault = clockFault({ last, now, intervalMs });
  return { now, fault, raised: fault === null ? [] : await raise(tx, use, fault, await tenants()) };
}

/** The same look, which remembers nothing and raises nothing. */
export async function peekAtClock(
  db: Queryable,
  { use, intervalMs }: ClockUse,
): Promise<Omit<ClockLook, "raised">> {
  const { rows } = await db.query<{ last: Date | null; now: Date }>(
    `select clock_timestamp()::timestamptz(3) as now,
       (select last_seen_at from lapse_kit.clock_watch where use = $1) as last`,
    [use],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error("a look at the clock gave no row");
  }
  return { now: row.now, fault: clockFault({ ...row, intervalMs }) };
}

/** The tenants for which nothing may be done by the clock of this use. */
export async function heldByClock(db: Queryable, use: string): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ tenant: string }>(
    `select tenant from lapse_kit.clock_hold where use = $1 and ended_at is null`,
    [use],
  );
  return new Set(rows.map(({ tenant }) => tenant));
}

/** The hold of a tenant that nobody has confirmed; undefined: there is none. */
export async function findClockHold(
  db: Queryable,
  { use, tenant }: { readonly use: string; readonly tenant: string },
): Promise<ClockHold | undefined> {
  const { rows } = await db.query<HoldRow>(
    `select ${COLUMNS} from lapse_kit.clock_hold where use = $1 and tenant = $2 and ended_at is null`,
    [use, tenant],
  );
  return rows.map(toHold)[0];
}

/**
 * Ends the open hold of a tenant: `by` says that the clock is right. Only that of `holdId`, where given, so that a
 * jump nobody has seen yet is not confirmed along. Undefined: there is no such hold, or it has ended.
 */
export async function confirmClockHold(
  tx: Queryable,
  {
    use,
    tenant,
    by,
    holdId,
  }: {
    readonly use: string;
    readonly tenant: string;
    readonly by: string;
    readonly holdId?: string;
  },
): Promise<ClockHold | undefined> {
  const { rows } = await tx.query<HoldRow>(
    `update lapse_kit.clock_hold
     set confirmed_by = $3, confirmed_at = clock_timestamp(), ended_at = clock_timestamp()
     where use = $1 and tenant = $2 and ended_at is null and ($4::uuid is null or hold_id = $4)
     returning ${COLUMNS}`,
    [use, tenant, by, holdId ?? null],
  );
  return rows.map(toHold)[0];
}

interface HoldRow extends Record<string, unknown> {
  hold_id: string;
  tenant: string;
  last_seen_at: Date;
  raised_at: Date;
  confirmed_by: string | null;
  confirmed_at: Date | null;
}

const COLUMNS = "hold_id, tenant, last_seen_at, raised_at, confirmed_by, confirmed_at";

const toHold = (row: HoldRow): ClockHold => ({
  holdId: row.hold_id,
  tenant: row.tenant,
  lastSeenAt: row.last_seen_at,
  raisedAt: row.raised_at,
  confirmedBy: row.confirmed_by,
  confirmedAt: row.confirmed_at,
});

/**
 * The clock now and at the last look; null: there was none. It is read once the row is locked: the start of a
 * transaction that had to wait lies before the look it waited for.
 */
async function noteClock(
  tx: Queryable,
  use: string,
): Promise<{ readonly last: Date | null; readonly now: Date }> {
  const { rows: before } = await tx.query<{ last: Date }>(
    `select last_seen_at as last from lapse_kit.clock_watch where use = $1 for update`,
    [use],
  );
  const [known] = before;
  const { rows: after } = await tx.query<{ now: Date }>(
    known === undefined
      ? `insert into lapse_kit.clock_watch (use, last_seen_at) values ($1, clock_timestamp())
         on conflict do nothing returning last_seen_at as now`
      : `update lapse_kit.clock_watch set last_seen_at = clock_timestamp() where use = $1
         returning last_seen_at as now`,
    [use],
  );
  const [noted] = after;
  // Somebody else has taken the first look meanwhile, and this is the second.
  return noted === undefined ? noteClock(tx, use) : { last: known?.last ?? null, now: noted.now };
}

async function raise(
  tx: Queryable,
  use: string,
  { last, now }: ClockFault,
  tenants: readonly string[],
): Promise<readonly ClockHold[]> {
  await tx.query(
    `update lapse_kit.clock_hold set ended_at = $3
     where use = $1 and tenant = any($2::text[]) and ended_at is null`,
    [use, tenants, now],
  );
  const { rows } = await tx.query<HoldRow>(
    `insert into lapse_kit.clock_hold (hold_id, use, tenant, last_seen_at, raised_at)
     select h.hold_id, $1, h.tenant, $4, $5 from unnest($2::uuid[], $3::text[]) as h (hold_id, tenant)
     returning ${COLUMNS}`,
    [use, tenants.map(() => newId()), tenants, last, now],
  );
  return rows.map(toHold);
}
