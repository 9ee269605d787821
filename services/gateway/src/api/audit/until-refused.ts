import { setTimeout as pause } from "node:timers/promises";
import { toLapseError } from "@lapse/kit";

/**
 * A signal that is aborted with `signal`, or once `check` says that a credential is not accepted any more. That the
 * check cannot be made at the moment says nothing about the credential.
 */
export function untilRefused(
  check: () => Promise<unknown>,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
): AbortSignal {
  const refused = new AbortController();
  void recheck(check, everyMs, signal).then((isRefused) => isRefused && refused.abort());
  return AbortSignal.any([signal, refused.signal]);
}

/** True once it is refused; false when `signal` ends it before. */
async function recheck(
  check: () => Promise<unknown>,
  everyMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    // Woken by the signal, it rejects; the condition says the same.
    await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return false;
    try {
      await check();
    } catch (error) {
      if (toLapseError(error).kind === "unauthenticated") return true;
    }
  }
  return false;
}
