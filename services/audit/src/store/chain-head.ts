import type { Queryable } from "@lapse/kit";
import { type ChainHead, EMPTY_CHAIN, NO_HASH } from "../domain/chain.ts";

interface Row {
  tenant: string;
  seq: bigint;
  hash: Uint8Array;
}

/**
 * Starts the chains that are not there yet, empty, in a transaction of its own: so that
 * {@link lockChainHeads} finds a row to lock for each.
 */
export async function startChains(db: Queryable, tenants: readonly string[]): Promise<void> {
  await db.query(
    `insert into chain_head (tenant, seq, hash)
     select tenant, 0, $2 from unnest($1::text[]) as t (tenant)
     on conflict (tenant) do nothing`,
    [[...tenants].sort(), Buffer.from(NO_HASH)],
  );
}

/** Locks the heads of `tenants` until the transaction ends, in one order for all, so that two never deadlock. */
export async function lockChainHeads(
  tx: Queryable,
  tenants: readonly string[],
): Promise<Map<string, ChainHead>> {
  const { rows } = await tx.query<Row>(
    `select tenant, seq, hash from chain_head
     where tenant = any($1) order by tenant for update`,
    [tenants],
  );
  return new Map(rows.map(({ tenant, seq, hash }) => [tenant, { seq, hash }]));
}

/** Moves the heads that {@link lockChainHeads} locked. */
export async function moveChainHeads(
  tx: Queryable,
  heads: ReadonlyMap<string, ChainHead>,
): Promise<void> {
  const entries = [...heads];
  await tx.query(
    `update chain_head set seq = moved.seq, hash = moved.hash
     from unnest($1::text[], $2::bigint[], $3::bytea[]) as moved (tenant, seq, hash)
     where chain_head.tenant = moved.tenant`,
    [
      entries.map(([tenant]) => tenant),
      entries.map(([, head]) => head.seq),
      entries.map(([, head]) => Buffer.from(head.hash)),
    ],
  );
}

/** The head of one chain; an empty one where nothing has been appended. */
export async function readChainHead(db: Queryable, tenant: string): Promise<ChainHead> {
  const { rows } = await db.query<Row>(
    "select tenant, seq, hash from chain_head where tenant = $1",
    [tenant],
  );
  const [row] = rows;
  return row === undefined ? EMPTY_CHAIN : { seq: row.seq, hash: row.hash };
}

/** How many records all chains hold. */
export async function countRecords(db: Queryable): Promise<bigint> {
  const { rows } = await db.query<{ records: bigint }>(
    "select coalesce(sum(seq), 0)::bigint as records from chain_head",
  );
  return rows[0]?.records ?? 0n;
}
