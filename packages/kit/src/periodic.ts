import { pause } from "./backoff.ts";
import type { Logger } from "./log.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";

/**
 * Runs `work` again and again, `everyMs` after it ended, the first time after `firstMs` (0 unless given).
 * What it throws is logged under `name` and is no reason to stop.
 */
export function startPeriodic({
  name,
  everyMs,
  firstMs = 0,
  work,
  log,
}: {
  readonly name: string;
  readonly everyMs: number;
  readonly firstMs?: number;
  work(signal: AbortSignal): Promise<void>;
  readonly log: Logger;
}): Stoppable {
  const stop = new AbortController();
  const { signal } = stop;
  const running = (async () => {
    await pause(firstMs, signal);
    while (!signal.aborted) {
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error, job: name }, "a periodic job failed");
      }
      await pause(everyMs, signal);
    }
  })();
  return stoppable(async () => {
    stop.abort();
    await running;
  });
}
