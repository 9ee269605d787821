import type { Pool } from "@lapse/kit";
import type { DecisionRecord } from "../domain/decision.ts";
import { readChainHead } from "../store/chain-head.ts";
import { type DecisionFilter, searchChain } from "../store/decision-search.ts";
import type { AppendSignal } from "./append-signal.ts";

export interface WatchDeps {
  readonly pool: Pool;
  readonly appended: AppendSignal;
}

export interface Watch {
  readonly tenant: string;
  readonly filter: DecisionFilter;
  /** Start after this record; undefined: with what is appended from now on. */
  readonly afterSeq: bigint | undefined;
}

const PAGE = 200;

/**
 * The matching records of a chain in its order, then each as it is appended, until `until` is aborted. It
 * reads a page at a time and no sooner than the records before were taken.
 */
export async function* watchDecisions(
  { pool, appended }: WatchDeps,
  { tenant, filter, afterSeq }: Watch,
  until: AbortSignal,
): AsyncGenerator<DecisionRecord, void, undefined> {
  let after = afterSeq ?? (await readChainHead(pool, tenant)).seq;
  while (!until.aborted) {
    const news = appended.next(tenant, until);
    const head = await readChainHead(pool, tenant);
    while (after < head.seq && !until.aborted) {
      const page = await searchChain(pool, {
        tenant,
        filter,
        afterSeq: after,
        toSeq: head.seq,
        limit: PAGE,
      });
      yield* page;
      const last = page.at(-1);
      after = page.length === PAGE && last !== undefined ? last.seq : head.seq;
    }
    await news;
  }
}
