import { setTimeout as delay } from "node:timers/promises";

const FIRST_MS = 100;
const LONGEST_MS = 2_000;

/** Waits before what failed `failures` times is tried again: longer each time, and by chance, so that clients spread. */
export async function pauseAfter(failures: number, signal?: AbortSignal): Promise<void> {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  const ms = ceiling / 2 + Math.random() * (ceiling / 2);
  await delay(ms, undefined, signal ? { signal } : {});
}
