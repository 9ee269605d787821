/** Ends a wait early. */
export class Alarm {
  #rung = false;
  #wake: () => void = () => undefined;

  /** Ends the wait under way, or the next. */
  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Waits until it rings, `ms` are over or `signal` is aborted. One waits at a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", finish);
          resolve();
        };
        const timer = setTimeout(finish, ms);
        signal.addEventListener("abort", finish);
        this.#wake = finish;
      });
    }
    this.#rung = false;
  }
}
