import { setTimeout as delay } from "node:timers/promises";

/** How long to keep asking, and how often. Milliseconds. */
export interface UntilOptions {
  readonly timeoutMs: number;
  readonly everyMs?: number;
}

/**
 * Asks `condition` until it answers something other than `false` or `undefined`, and returns that.
 * Answers `undefined` when the time is up. What the condition throws is thrown on at once.
 */
export async function until<T>(
  condition: () => Promise<T | false | undefined> | T | false | undefined,
  options: UntilOptions,
): Promise<T | undefined> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer !== false && answer !== undefined) return answer;
    if (performance.now() >= deadline) return undefined;
    await delay(options.everyMs ?? 25);
  }
}
