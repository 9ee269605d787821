import { databaseClock, type Pool, type Queryable, withTransaction } from "@lapse/kit";
import { type Arrived, sortArrived } from "../domain/arrival.ts";
import { type ChainHead, extendChain } from "../domain/chain.ts";
import type { Decision, DecisionRecord } from "../domain/decision.ts";
import { lockChainHeads, moveChainHeads, startChains } from "../store/chain-head.ts";
import { findRecords, insertDecisions } from "../store/decision-record.ts";

/** PostgreSQL channel on which the tenant of every append is notified. */
export const APPENDED_CHANNEL = "decision_appended";

export interface Appended {
  readonly records: readonly DecisionRecord[];
  readonly misused: Arrived["misused"];
}

/**
 * Appends to the chains of their tenants what is not in the log yet, in one transaction that holds the heads
 * of these chains: however many replicas append, a chain never forks. `alongside` is run and commits with it.
 */
export async function appendDecisions(
  pool: Pool,
  decisions: readonly Decision[],
  alongside: (tx: Queryable, appended: Appended) => Promise<void>,
): Promise<Appended> {
  const tenants = [...new Set(decisions.map(({ tenant }) => tenant))];
  for (;;) {
    const appended = await withTransaction(pool, async (tx) => {
      const heads = await lockChainHeads(tx, tenants);
      if (heads.size < tenants.length) {
        return null;
      }
      const appended = await append(tx, decisions, heads);
      await alongside(tx, appended);
      return appended;
    });
    if (appended !== null) {
      return appended;
    }
    // Not under the locks above: a row inserted there could close a circle of waiting replicas.
    await startChains(pool, tenants);
  }
}

async function append(
  tx: Queryable,
  decisions: readonly Decision[],
  heads: ReadonlyMap<string, ChainHead>,
): Promise<Appended> {
  const known = await findRecords(
    tx,
    decisions.map(({ id }) => id),
  );
  const { fresh, misused } = sortArrived(decisions, known);
  if (fresh.length === 0) {
    return { records: [], misused };
  }
  const recordedAt = await databaseClock(tx).now();
  const moved = new Map<string, ChainHead>();
  const records: DecisionRecord[] = [];
  for (const [tenant, head] of heads) {
    const ofTenant = fresh.filter((decision) => decision.tenant === tenant);
    const added = extendChain(head, ofTenant, recordedAt);
    records.push(...added);
    const last = added.at(-1);
    if (last !== undefined) {
      moved.set(tenant, last);
    }
  }
  await insertDecisions(tx, records);
  await moveChainHeads(tx, moved);
  await tx.query("select pg_notify($1, tenant) from unnest($2::text[]) as t (tenant)", [
    APPENDED_CHANNEL,
    [...moved.keys()],
  ]);
  return { records, misused };
}
