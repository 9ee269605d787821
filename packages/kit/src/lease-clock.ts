/** Share of the time to live after which an unrenewed lease counts as lost here: before it does elsewhere. */
const TRUSTED_SHARE = 0.8;

/**
 * Knows by this process's monotonic clock how long a lease may be relied on. It counts from before the
 * request that got or renewed it, so that it ends here first, however long the answer took.
 */
export class LeaseClock {
  readonly #ttlMs: number;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #lost = false;

  constructor(ttlMs: number, asked: number) {
    this.#ttlMs = ttlMs;
    this.extend(asked);
  }

  /** Aborted when the lease is lost, may be lost, or is given back. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Renewed by a request that was sent at `asked` (`performance.now()`). */
  extend(asked: number): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    const left = asked + this.#ttlMs * TRUSTED_SHARE - performance.now();
    if (left <= 0) this.lose();
    else this.#timer = setTimeout(() => this.lose(), left);
  }

  lose(): void {
    if (!this.signal.aborted) this.#lost = true;
    this.end();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#end.abort();
  }
}
