import { setTimeout as delay } from "node:timers/promises";

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * How long to wait before what failed `failures` times is tried again, in ms: longer each time, and by chance, so
 * that clients spread; and no shorter than the server asked for.
 */
export function pauseMs(failures: number, retryAfterMs: number | null = null): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  const ms = ceiling / 2 + Math.random() * (ceiling / 2);
  return Math.max(ms, retryAfterMs ?? 0);
}

/** Waits for {@link pauseMs}; rejects with the reason of `signal` when that is aborted. */
export async function pauseAfter(
  failures: number,
  signal?: AbortSignal,
  retryAfterMs: number | null = null,
): Promise<void> {
  try {
    await delay(pauseMs(failures, retryAfterMs), undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
