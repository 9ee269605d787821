import { setTimeout as delay } from "node:timers/promises";
import { type Pool, toLapseError } from "@lapse/kit";
import { type FoldedTo, firstBehind, type StreamHead } from "../domain/fence.ts";
import { loadPositions } from "../store/fold-positions.ts";

const EVERY_MS = 15;

interface Waiter {
  readonly heads: readonly StreamHead[];
  behind: StreamHead | undefined;
  readonly settle: (behind: StreamHead | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Looks at the stored positions for as long as somebody waits for them, once for all who do. */
export class PositionWatch {
  readonly #pool: Pool;
  readonly #waiters = new Set<Waiter>();
  #looking = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Waits until the heads are folded; one that still is not after `timeoutMs`, or when `signal` is aborted,
   * else undefined.
   */
  async waitFor(
    heads: readonly StreamHead[],
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<StreamHead | undefined> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", late);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        heads,
        behind: heads[0],
        settle: (behind) => {
          finish();
          resolve(behind);
        },
        fail: (error) => {
          finish();
          reject(error);
        },
      };
      const late = () => waiter.settle(waiter.behind);
      const timer = setTimeout(late, timeoutMs);
      signal.addEventListener("abort", late);
      this.#waiters.add(waiter);
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    if (this.#looking) {
      return;
    }
    this.#looking = true;
    while (this.#waiters.size > 0) {
      // Those who come while the positions are read may have been folded after it.
      const waiters = [...this.#waiters];
      try {
        const positions = await loadPositions(this.#pool);
        for (const waiter of waiters) {
          this.#check(waiter, positions);
        }
      } catch (error) {
        for (const waiter of waiters) {
          waiter.fail(toLapseError(error));
        }
      }
      if (this.#waiters.size > 0) {
        await delay(EVERY_MS);
      }
    }
    this.#looking = false;
  }

  #check(waiter: Waiter, positions: ReadonlyMap<string, FoldedTo>): void {
    waiter.behind = firstBehind(waiter.heads, positions);
    if (waiter.behind === undefined) {
      waiter.settle(undefined);
    }
  }
}
