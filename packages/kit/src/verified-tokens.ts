import type { Principal } from "./principal.ts";

/** What a token was found to stand for, and until when (milliseconds since 1970) it can. */
export interface Verified {
  readonly principal: Principal;
  readonly expiresAt: number;
}

export interface MemoryLimits {
  readonly keepMs: number;
  readonly most: number;
  readonly now: () => number;
}

const LIMITS: MemoryLimits = { keepMs: 30_000, most: 1_000, now: Date.now };

/** A key is there to be revoked at once, so it is asked for far more often than a signature is checked. */
export const API_KEY_LIMITS: MemoryLimits = { ...LIMITS, keepMs: 5_000 };

/**
 * Remembers for half a minute what a valid token stands for, since services show the same one at every
 * call and a signature costs as much as the rest of a small one. Nothing is remembered past its expiry,
 * and no refusal at all; a key that is withdrawn counts half a minute longer.
 */
export function rememberVerified(
  verify: (token: string) => Promise<Verified>,
  { keepMs, most, now }: MemoryLimits = LIMITS,
): (token: string) => Promise<Principal> {
  const known = new Map<string, { principal: Principal; until: number }>();
  return async (token) => {
    const found = known.get(token);
    if (found && now() < found.until) return found.principal;
    known.delete(token);
    const { principal, expiresAt } = await verify(token);
    known.set(token, { principal, until: Math.min(expiresAt, now() + keepMs) });
    // A Map is in the order of insertion: the first is the oldest.
    for (const oldest of known.keys()) {
      if (known.size <= most) break;
      known.delete(oldest);
    }
    return principal;
  };
}
