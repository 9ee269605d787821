/** Tells those who watch a chain that something was appended to it. */
export interface AppendSignal {
  /** Wakes whoever waits for the tenant; with "", everybody. */
  raise(tenant: string): void;
  /**
   * Resolves at the first {@link raise} after this call, after {@link LONGEST_WAIT_MS}, or when `until` is
   * aborted. Asked for before reading, it misses nothing that is appended while reading.
   */
  next(tenant: string, until: AbortSignal): Promise<void>;
}

/** A notification that got lost delays a watcher by this much at most. */
export const LONGEST_WAIT_MS = 5_000;

export function createAppendSignal(): AppendSignal {
  const waiting = new Map<string, Set<() => void>>();
  const wake = (tenant: string) => {
    for (const resolve of waiting.get(tenant) ?? []) resolve();
  };
  return {
    raise(tenant) {
      if (tenant === "") {
        [...waiting.keys()].forEach(wake);
      } else {
        wake(tenant);
      }
    },
    next(tenant, until) {
      return new Promise((resolve) => {
        const waiters = waiting.get(tenant) ?? new Set();
        const done = () => {
          clearTimeout(timer);
          until.removeEventListener("abort", done);
          waiters.delete(done);
          if (waiters.size === 0 && waiting.get(tenant) === waiters) waiting.delete(tenant);
          resolve();
        };
        const timer = setTimeout(done, LONGEST_WAIT_MS);
        waiting.set(tenant, waiters.add(done));
        until.addEventListener("abort", done);
        if (until.aborted) done();
      });
    },
  };
}
