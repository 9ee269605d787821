import { pause } from "./backoff.ts";

/** Lets one loop sleep until it is woken; a wake while it works counts for its next sleep. */
export class Wakeup {
  #woken = false;
  #sleeping: AbortController | undefined;

  wake(): void {
    this.#woken = true;
    this.#sleeping?.abort();
  }

  /** Resolves when woken, or after `ms`. */
  async sleep(ms: number): Promise<void> {
    if (!this.#woken) {
      this.#sleeping = new AbortController();
      await pause(ms, this.#sleeping.signal);
      this.#sleeping = undefined;
    }
    this.#woken = false;
  }
}
