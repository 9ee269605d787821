import type { Pool, Queryable } from "./postgres.ts";
import { withTransaction } from "./transaction.ts";

const EXPIRES = "clock_timestamp() + make_interval(secs => $1::float8 / 1000)";

/**
 * Takes a lease that is free or has run out, by the database's clock; gives its new token, undefined while
 * somebody else holds it. Waits for transactions that rely on the old one.
 */
export async function takeLease(
  pool: Pool,
  { name, holder, ttlMs }: { name: string; holder: string; ttlMs: number },
): Promise<bigint | undefined> {
  if (!(await isFree(pool, name))) return undefined;
  return withTransaction(pool, async (tx) => {
    const { rows: made } = await tx.query<{ token: bigint }>(
      `insert into lapse_kit.lease (name, holder, token, expires_at) values ($2, $3, 1, ${EXPIRES})
       on conflict (name) do nothing returning token`,
      [ttlMs, name, holder],
    );
    if (made[0]) return made[0].token;
    // Not `for no key update`: this one waits for the `for key share` of assertLease.
    await tx.query("select from lapse_kit.lease where name = $1 for update", [name]);
    const { rows: taken } = await tx.query<{ token: bigint }>(
      `update lapse_kit.lease set holder = $3, token = token + 1, expires_at = ${EXPIRES}
       where name = $2 and expires_at <= clock_timestamp() returning token`,
      [ttlMs, name, holder],
    );
    return taken[0]?.token;
  });
}

/** A look without a lock, so that those who wait do not disturb the holder. */
async function isFree(db: Queryable, name: string): Promise<boolean> {
  const { rows } = await db.query(
    "select from lapse_kit.lease where name = $1 and expires_at > clock_timestamp()",
    [name],
  );
  return rows.length === 0;
}

/** Whether the lease is still this holder's, and now runs anew. */
export async function extendLease(
  db: Queryable,
  { name, holder, token, ttlMs }: { name: string; holder: string; token: bigint; ttlMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update lapse_kit.lease set expires_at = ${EXPIRES}
     where name = $2 and token = $3 and holder = $4 and expires_at > clock_timestamp()`,
    [ttlMs, name, token, holder],
  );
  return rowCount === 1;
}

/** Ends the lease, if it still has that token. */
export async function freeLease(
  db: Queryable,
  { name, token }: { name: string; token: bigint },
): Promise<void> {
  await db.query(
    "update lapse_kit.lease set expires_at = clock_timestamp() where name = $1 and token = $2",
    [name, token],
  );
}
