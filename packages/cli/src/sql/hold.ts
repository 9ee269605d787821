import { setTimeout as delay } from "node:timers/promises";
import type { LapseClient } from "@lapse/sdk";

/**
 * Keeps a table from being dropped while `work` writes to it (T21): takes a hold, renews it at a third of its
 * time, and gives it up when the work fails. A commit that names the hold releases it itself.
 */
export async function withHold<T>(
  client: LapseClient,
  tableId: string,
  work: (holdId: string) => Promise<T>,
): Promise<T> {
  const hold = await client.tables.holds.createById(tableId);
  const stop = new AbortController();
  const lifetimeMs = hold.expires_at.getTime() - hold.created_at.getTime();
  const heartbeat = renew(client, hold.id, lifetimeMs / 3, stop.signal);
  try {
    return await work(hold.id);
  } catch (error) {
    await release(client, hold.id);
    throw error;
  } finally {
    stop.abort();
    await heartbeat;
  }
}

async function renew(client: LapseClient, holdId: string, everyMs: number, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      await delay(Math.max(500, everyMs), undefined, { signal });
      await client.tables.holds.renew(holdId);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      process.stderr.write(`warning: the hold on the table could not be renewed: ${why}\n`);
    }
  }
}

/** The write has failed already; a hold that stays ends by itself. */
async function release(client: LapseClient, holdId: string): Promise<void> {
  try {
    await client.tables.holds.release(holdId);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`warning: the hold on the table ends by itself only: ${why}\n`);
  }
}
