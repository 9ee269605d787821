import { backoffMs, pause } from "./backoff.ts";
import { conflict } from "./errors.ts";
import { LeaseClock } from "./lease-clock.ts";
import { extendLease, freeLease, takeLease } from "./lease-store.ts";
import type { Logger } from "./log.ts";
import type { Pool, Queryable } from "./postgres.ts";
import { type Stoppable, stoppable } from "./stoppable.ts";

/** A lease while it is held. */
export interface Lease {
  /** Grows with each take-over. Every effect under the lease checks it with `assertLease`. */
  readonly token: bigint;
  /** Aborted before anybody else can hold the lease, and when it is given back. */
  readonly signal: AbortSignal;
}

export interface LeaseOptions {
  readonly pool: Pool;
  readonly name: string;
  /** Of this process alone, e.g. with a random part; shown to operators. */
  readonly holder: string;
  /** How long a holder that dies keeps others waiting; 15 s unless given. */
  readonly ttlMs?: number;
  /**
   * Does the work; returns soon after `signal` is aborted. When it returns or throws before, the lease is
   * given back and sought again a little later.
   */
  onAcquired(lease: Lease): Promise<void>;
  readonly log: Logger;
}

const TTL_MS = 15_000;

/** Seeks the lease until stopped and does the work whenever it is held. */
export function holdLease(options: LeaseOptions): Stoppable {
  const stop = new AbortController();
  const running = seek(options, stop.signal);
  return stoppable(async () => {
    stop.abort();
    await running;
  });
}

async function seek(options: LeaseOptions, stop: AbortSignal): Promise<void> {
  const { pool, name, holder, log, ttlMs = TTL_MS } = options;
  let failures = 0;
  while (!stop.aborted) {
    const asked = performance.now();
    try {
      const token = await takeLease(pool, { name, holder, ttlMs });
      if (token !== undefined) {
        log.info({ lease: name, token: String(token) }, "lease acquired");
        await hold(options, { token, asked }, stop);
      }
      failures = 0;
    } catch (error) {
      log.warn({ err: error, lease: name }, "a lease could not be had");
      failures++;
    }
    const wait = failures > 0 ? backoffMs(failures, { firstMs: 100, mostMs: ttlMs }) : ttlMs / 3;
    await pause(wait * (0.75 + Math.random() / 4), stop);
  }
}

async function hold(
  { pool, name, holder, ttlMs = TTL_MS, onAcquired, log }: LeaseOptions,
  { token, asked }: { readonly token: bigint; readonly asked: number },
  stop: AbortSignal,
): Promise<void> {
  const clock = new LeaseClock(ttlMs, asked);
  const end = () => clock.end();
  stop.addEventListener("abort", end);
  if (stop.aborted) end();
  const renewing = renew({ pool, name, holder, token, ttlMs, log }, clock);
  try {
    await onAcquired({ token, signal: clock.signal });
  } catch (error) {
    if (!clock.signal.aborted) log.error({ err: error, lease: name }, "work under a lease failed");
  } finally {
    stop.removeEventListener("abort", end);
    const lost = clock.lost;
    clock.end();
    await renewing;
    if (lost) log.warn({ lease: name, token: String(token) }, "lease lost");
    // If it is lost, the token does not fit any more and nothing happens.
    await freeLease(pool, { name, token }).catch((error: unknown) =>
      log.warn({ err: error, lease: name }, "a lease is left to run out"),
    );
  }
}

async function renew(
  {
    pool,
    name,
    holder,
    token,
    ttlMs,
    log,
  }: Required<Pick<LeaseOptions, "pool" | "name" | "holder" | "ttlMs" | "log">> & { token: bigint },
  clock: LeaseClock,
): Promise<void> {
  const { signal } = clock;
  for (let failures = 0; !signal.aborted; ) {
    await pause(failures > 0 ? ttlMs / 15 : ttlMs / 3, signal);
    if (signal.aborted) return;
    const asked = performance.now();
    try {
      if (await extendLease(pool, { name, holder, token, ttlMs })) clock.extend(asked);
      else clock.lose();
      failures = 0;
    } catch (error) {
      // Not yet lost: it may work in time.
      log.warn({ err: error, lease: name }, "a lease could not be renewed");
      failures++;
    }
  }
}

/**
 * In a transaction READ COMMITTED, before its effect: throws unless the lease is still the one with that
 * token, and keeps it so until the transaction ends, as a take-over waits for that. Renewals do not. The
 * transaction is ended when it idles for 10 s, or a process that hangs in it would hold others up.
 *
 * @throws conflict `LEASE_LOST`
 */
export async function assertLease(tx: Queryable, name: string, token: bigint): Promise<void> {
  const { rows } = await tx.query<{ token: bigint }>(
    `select token, set_config('idle_in_transaction_session_timeout', '10s', true)
     from lapse_kit.lease where name = $1 for key share`,
    [name],
  );
  if (rows[0]?.token === token) return;
  throw conflict("LEASE_LOST", `the lease ${name} has passed to another process`, {
    details: { lease: name },
  });
}
