import { until } from "@lapse/local";

/** How long to wait (default 10 s), how often to look (default 25 ms), and what to say on failure. */
export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** What was waited for; a function is asked at the time of failure. */
  readonly message?: string | (() => string);
}

/**
 * Waits until `condition` answers something truthy and returns that. A condition that throws is not
 * met yet; its last error is the cause of the failure.
 */
export async function waitFor<T>(
  condition: () => Promise<T> | T,
  options: WaitOptions = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 10_000, everyMs, message = "the condition was not met" } = options;
  let cause: unknown;
  const met = await until(
    async () => {
      try {
        const value = await condition();
        cause = undefined;
        return value ? { value } : undefined;
      } catch (error) {
        cause = error;
        return undefined;
      }
    },
    { timeoutMs, ...(everyMs !== undefined && { everyMs }) },
  );
  if (met !== undefined) return met.value as NonNullable<T>;
  const text = typeof message === "string" ? message : message();
  throw new Error(`waited ${timeoutMs} ms: ${text}`, { cause });
}
