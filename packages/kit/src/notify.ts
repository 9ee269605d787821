import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "./log.ts";
import type { Pool } from "./postgres.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";

const LONGEST_WAIT_MS = 5_000;

/**
 * Calls `callback` for every NOTIFY on `channel`, and with "" after each (re)connect, because what was
 * notified meanwhile is lost. It holds one connection of its own, outside the pool, and reconnects until
 * it is stopped. A notification only wakes: whoever listens also polls.
 */
export function onNotify(
  pool: Pool,
  channel: string,
  callback: (payload: string) => void,
  { log }: { log: Logger },
): Stoppable {
  const stop = new AbortController();
  const running = (async () => {
    for (let failures = 0; !stop.signal.aborted; failures++) {
      try {
        await listen(pool, channel, callback, stop.signal, () => {
          failures = 0;
        });
      } catch (error) {
        log.warn({ err: error, channel }, "listening on a database channel failed");
      }
      const wait = Math.min(LONGEST_WAIT_MS, 100 * 2 ** failures) * (0.5 + Math.random() / 2);
      await delay(wait, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return stoppable(async () => {
    stop.abort();
    await running;
  });
}

/** Returns when `signal` is aborted; throws when the connection cannot be had or is lost. */
async function listen(
  pool: Pool,
  channel: string,
  callback: (payload: string) => void,
  signal: AbortSignal,
  onListening: () => void,
): Promise<void> {
  const client = new pg.Client(pool.options);
  const ended = new Promise<void>((resolve, reject) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    client.on("error", reject);
    client.on("end", () => reject(new Error("the connection ended")));
  });
  // Whoever awaits `ended` below sees its error; before that, connect() reports the same one.
  ended.catch(() => undefined);
  client.on("notification", ({ payload }) => callback(payload ?? ""));
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    onListening();
    callback("");
    await ended;
  } finally {
    await client.end();
  }
}
