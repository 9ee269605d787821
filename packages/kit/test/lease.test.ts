import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import {
  assertLease,
  createPool,
  holdLease,
  type Lease,
  type LeaseOptions,
  type Pool,
  type Stoppable,
  withTransaction,
} from "../src/index.ts";
import { extendLease, takeLease } from "../src/lease-store.ts";
import { kitDatabase, log } from "./support/setup.ts";

const name = "sweep";

let database: Awaited<ReturnType<typeof kitDatabase>>;
let pool: Pool;
let held: Stoppable[] = [];

beforeAll(async () => {
  database = await kitDatabase("lease");
  pool = database.pool;
});
afterAll(() => database.close());
beforeEach(() => pool.query("truncate lapse_kit.lease, effect"));
afterEach(async () => {
  await Promise.all(held.map((each) => each.stop()));
  held = [];
});

/** Seeks the lease and notes when it was had and lost. */
function seek(holder: string, options: Partial<LeaseOptions> = {}) {
  const leases: Lease[] = [];
  const stoppable = holdLease({
    pool,
    name,
    holder,
    ttlMs: 900,
    log,
    onAcquired: async (lease) => {
      leases.push(lease);
      await aborted(lease.signal);
    },
    ...options,
  });
  held.push(stoppable);
  return { leases, stop: () => stoppable.stop() };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });

describe("holdLease", () => {
  test("T23 gives the lease to one of several, and to another soon after that one stops", async () => {
    const a = seek("a", { ttlMs: 2_500 });
    await waitFor(() => a.leases.length === 1);
    const b = seek("b", { ttlMs: 2_500 });
    const renewed = performance.now();
    // Much longer than the time to live: it is renewed.
    await waitFor(() => performance.now() - renewed > 5_000);
    expect(b.leases).toEqual([]);
    expect(a.leases[0]?.signal.aborted).toBe(false);
    await a.stop();
    expect(a.leases[0]?.signal.aborted).toBe(true);
    await waitFor(() => b.leases.length === 1);
    expect(b.leases[0]?.token).toBe((a.leases[0]?.token ?? 0n) + 1n);
  });

  test("T23 passes to another when its holder dies, not before it has run out", async () => {
    // A holder that does not renew.
    const token = await takeLease(pool, { name, holder: "dead", ttlMs: 1_000 });
    const since = performance.now();
    const b = seek("b");
    await waitFor(() => b.leases.length === 1);
    expect(performance.now() - since).toBeGreaterThan(900);
    expect(b.leases[0]?.token).toBe((token ?? 0n) + 1n);
  });

  test("tells its holder before anybody else can have it, when it cannot be renewed", async () => {
    const own = createPool({ url: database.url, size: 2, applicationName: "a", log });
    const a = seek("a", { pool: own });
    await waitFor(() => a.leases.length === 1);
    let lostAt = 0;
    a.leases[0]?.signal.addEventListener("abort", () => {
      lostAt = performance.now();
    });
    let tookAt = 0;
    seek("b", {
      onAcquired: async ({ signal }) => {
        tookAt = performance.now();
        await aborted(signal);
      },
    });
    // A renewal that hangs is as bad as one that fails.
    const blocker = await pool.connect();
    await blocker.query("begin");
    await blocker.query("select from lapse_kit.lease for no key update");
    await waitFor(() => lostAt > 0);
    expect(tookAt).toBe(0);
    await blocker.query("rollback");
    blocker.release();
    await waitFor(() => tookAt > 0);
    expect(tookAt).toBeGreaterThan(lostAt);
    await a.stop();
    await own.end();
  });

  test("gives the lease back when the work ends or throws, and gets it again", async () => {
    let calls = 0;
    const a = seek("a", {
      ttlMs: 300,
      onAcquired: async () => {
        calls++;
        if (calls === 1) throw new Error("the work failed");
      },
    });
    await waitFor(() => calls >= 3);
    await a.stop();
    expect(await takeLease(pool, { name, holder: "b", ttlMs: 1_000 })).toBeDefined();
  });

  test("does not do the work twice at once, however long it takes to end", async () => {
    let running = 0;
    let most = 0;
    seek("a", {
      ttlMs: 300,
      onAcquired: async ({ signal }) => {
        most = Math.max(most, ++running);
        await pool.query("update lapse_kit.lease set token = token + 1");
        await aborted(signal);
        const since = performance.now();
        await waitFor(() => performance.now() - since > 500);
        running--;
      },
    });
    await waitFor(async () => {
      const { rows } = await pool.query<{ token: bigint }>("select token from lapse_kit.lease");
      return (rows[0]?.token ?? 0n) > 4n;
    });
    expect(most).toBe(1);
  });

  test("survives a database that is away for a while", async () => {
    const own = createPool({ url: database.url, size: 2, applicationName: "leaseholder", log });
    const a = seek("a", { pool: own });
    await waitFor(() => a.leases.length === 1);
    await pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leaseholder'",
    );
    const since = performance.now();
    await waitFor(() => performance.now() - since > 1_500);
    const [lease] = a.leases;
    const last = a.leases.at(-1);
    expect(last?.signal.aborted).toBe(false);
    expect(lease?.token).toBeDefined();
    await a.stop();
    await own.end();
  });
});

describe("assertLease", () => {
  const effect = (token: bigint, value: string) =>
    withTransaction(pool, async (tx) => {
      await assertLease(tx, name, token);
      await tx.query("insert into effect (key, value) values ('k', $1)", [value]);
    });

  test("a holder that was stopped in its tracks and lost the lease has no effect when it goes on", async () => {
    const old = (await takeLease(pool, { name, holder: "stopped", ttlMs: 50 })) ?? 0n;
    await effect(old, "before");
    const fresh = await waitFor(() => takeLease(pool, { name, holder: "next", ttlMs: 10_000 }));
    await expect(effect(old, "late")).rejects.toMatchObject({
      kind: "conflict",
      reason: "LEASE_LOST",
    });
    await effect(fresh, "next");
    const { rows } = await pool.query("select value from effect order by nth");
    expect(rows).toEqual([{ value: "before" }, { value: "next" }]);
  });

  test("without the check, the stopped holder does have its effect", async () => {
    await takeLease(pool, { name, holder: "stopped", ttlMs: 50 });
    await waitFor(() => takeLease(pool, { name, holder: "next", ttlMs: 10_000 }));
    await pool.query("insert into effect (key, value) values ('k', 'late')");
    expect((await pool.query("select from effect")).rowCount).toBe(1);
  });

  test("a take-over waits for a transaction that relies on the lease, a renewal does not", async () => {
    const token = (await takeLease(pool, { name, holder: "a", ttlMs: 100 })) ?? 0n;
    const client = await pool.connect();
    await client.query("begin");
    await assertLease(client, name, token);
    await expect(extendLease(pool, { name, holder: "a", token, ttlMs: 100 })).resolves.toBe(true);
    let taken: bigint | undefined;
    const taking = waitFor(() => takeLease(pool, { name, holder: "b", ttlMs: 10_000 })).then(
      (got) => {
        taken = got;
      },
    );
    await waitFor(async () => {
      const { rowCount } = await pool.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for update%'",
      );
      return rowCount === 1;
    });
    await client.query("insert into effect (key, value) values ('k', 'in time')");
    expect(taken).toBeUndefined();
    await client.query("commit");
    client.release();
    await taking;
    expect(taken).toBe(token + 1n);
  });

  test("a process that hangs in such a transaction is ended by the database", async () => {
    const token = (await takeLease(pool, { name, holder: "a", ttlMs: 100 })) ?? 0n;
    await withTransaction(pool, async (tx) => {
      await assertLease(tx, name, token);
      const { rows } = await tx.query("show idle_in_transaction_session_timeout");
      expect(rows).toEqual([{ idle_in_transaction_session_timeout: "10s" }]);
    });
  });

  test("a lease that nobody has ever held is not held", async () => {
    await expect(effect(1n, "never")).rejects.toMatchObject({ reason: "LEASE_LOST" });
  });
});
