import { setTimeout as delay } from "node:timers/promises";

/** First and longest wait between tries, in milliseconds. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Doubles with each failure up to the longest, less up to a half by chance so that many do not come at once. */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffRange): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures, 30));
  return full * (0.5 + Math.random() / 2);
}

/** Waits; an aborted `signal` ends the wait early, which is not an error. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(Math.max(0, ms), undefined, { ...(signal && { signal }) }).catch(() => undefined);
}
