import type { Pool } from "@lapse/kit";
import type { DecisionRecord } from "../domain/decision.ts";
import { type Page, type Place, searchDecisions } from "../store/decision-search.ts";

export interface DecisionPage {
  readonly records: readonly DecisionRecord[];
  /** Where the next page goes on; null: there is none. */
  readonly next: Place | null;
}

/**
 * A page of a tenant's decisions, newest first by when they were decided. Every record that was there when the
 * first page was read comes exactly once, whatever is appended meanwhile.
 */
export async function listDecisions(pool: Pool, page: Page): Promise<DecisionPage> {
  // One more than asked for tells whether there is a next page.
  const found = await searchDecisions(pool, { ...page, limit: page.limit + 1 });
  const records = found.slice(0, page.limit);
  return { records, next: found.length > page.limit ? (records.at(-1) ?? null) : null };
}
