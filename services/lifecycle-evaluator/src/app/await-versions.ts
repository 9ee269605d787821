import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "@lapse/kit";
import { hasSeen, type SeenVersions } from "../domain/seen-versions.ts";
import type { TableFacts } from "../domain/table-facts.ts";
import { loadTableFacts } from "../store/table-facts.ts";

const EVERY_MS = 20;

/** What is known of some tables, and whether it is as new as it had to be. */
export interface AwaitedFacts {
  readonly facts: ReadonlyMap<string, TableFacts>;
  readonly reached: boolean;
}

/** Loads the tables, again and again until each is at least of the wanted versions or the time is over. */
export async function awaitVersions(
  pool: Pool,
  wanted: ReadonlyMap<string, SeenVersions>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<AwaitedFacts> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const loaded = await loadTableFacts(pool, [...wanted.keys()]);
    const facts = new Map(loaded.map((each) => [each.tableId, each]));
    const reached = [...wanted].every(([tableId, versions]) =>
      hasSeen(facts.get(tableId), versions),
    );
    if (reached || performance.now() + EVERY_MS > deadline || signal.aborted) {
      return { facts, reached };
    }
    await delay(EVERY_MS);
  }
}
