import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createPool, type Queryable, withTransaction } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import { type Database, openDatabase, silent } from "./database.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase({ name: "kit-transaction" });
  await database.pool.query("create table counter (id int primary key, value int not null)");
});
beforeEach(async () => {
  await database.pool.query("truncate counter");
  await database.pool.query("insert into counter values (1, 0), (2, 0)");
});
afterAll(() => database.close());

const counted = async (id: number, db: Queryable = database.pool): Promise<number> => {
  const { rows } = await db.query<{ value: number }>("select value from counter where id = $1", [
    id,
  ]);
  return rows[0]?.value ?? Number.NaN;
};
const add = (db: Queryable, id: number) =>
  db.query("update counter set value = value + 1 where id = $1", [id]);

/** Stops at the first call of `wait` until `parties` are there. */
function barrier(parties: number) {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrived = 0;
  return async () => {
    arrived++;
    if (arrived >= parties) open();
    await opened;
  };
}

describe("withTransaction", () => {
  test("commits what the work did and gives its result", async () => {
    const result = await withTransaction(database.pool, async (tx) => {
      await add(tx, 1);
      return "done";
    });
    expect(result).toBe("done");
    expect(await counted(1)).toBe(1);
  });

  test("rolls back and passes on what the work throws", async () => {
    const error = new Error("no");
    const work = withTransaction(database.pool, async (tx) => {
      await add(tx, 1);
      throw error;
    });
    await expect(work).rejects.toBe(error);
    expect(await counted(1)).toBe(0);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  test("a failed statement whose error the work ignored is no success", async () => {
    const work = withTransaction(database.pool, async (tx) => {
      await add(tx, 1);
      await tx.query("select 1/0").catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({
      kind: "internal",
      cause: expect.objectContaining({ message: expect.stringContaining("was ignored") }),
    });
    expect(await counted(1)).toBe(0);
  });

  test("a deferred constraint that fails at the commit is that error, and nothing is kept", async () => {
    await database.pool.query(
      "create table child (id int references counter deferrable initially deferred)",
    );
    const work = withTransaction(database.pool, (tx) => tx.query("insert into child values (99)"));
    await expect(work).rejects.toMatchObject({ code: "23503" });
    await database.pool.query("drop table child");
  });

  test("work that lost a race is run again until it wins", async () => {
    let runs = 0;
    const meet = barrier(2);
    const increment = () =>
      withTransaction(
        database.pool,
        async (tx) => {
          runs++;
          const value = await counted(1, tx);
          await meet();
          await tx.query("update counter set value = $1 where id = 1", [value + 1]);
        },
        { isolation: "repeatable read" },
      );
    await Promise.all([increment(), increment()]);
    expect(await counted(1)).toBe(2);
    expect(runs).toBe(3);
  });

  test("the same race without repeatable read loses an update", async () => {
    const meet = barrier(2);
    const increment = () =>
      withTransaction(database.pool, async (tx) => {
        const value = await counted(1, tx);
        await meet();
        await tx.query("update counter set value = $1 where id = 1", [value + 1]);
      });
    await Promise.all([increment(), increment()]);
    expect(await counted(1)).toBe(1);
  });

  test("a deadlock is broken and both get through", async () => {
    let runs = 0;
    const meet = barrier(2);
    const both = (first: number, second: number) =>
      withTransaction(database.pool, async (tx) => {
        runs++;
        await add(tx, first);
        await meet();
        await add(tx, second);
      });
    await Promise.all([both(1, 2), both(2, 1)]);
    expect([await counted(1), await counted(2)]).toEqual([2, 2]);
    expect(runs).toBeGreaterThan(2);
  });

  test("a race lost at every attempt is a conflict", async () => {
    let runs = 0;
    const work = withTransaction(
      database.pool,
      async (tx) => {
        runs++;
        await counted(1, tx);
        await add(database.pool, 1);
        await add(tx, 1);
      },
      { isolation: "repeatable read", attempts: 3 },
    );
    await expect(work).rejects.toMatchObject({ kind: "conflict", reason: "CONCURRENT_CHANGE" });
    expect(runs).toBe(3);
  });

  test("a connection that dies under the work is not used again", async () => {
    const work = withTransaction(database.pool, async (tx) => {
      await add(tx, 1);
      const { rows } = await tx.query<{ pid: number }>("select pg_backend_pid() as pid");
      await database.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
      await add(tx, 1);
    });
    await expect(work).rejects.toThrow();
    expect(await counted(1)).toBe(0);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });
});

describe("a connection that breaks at the commit", () => {
  let proxy: Server;
  let sockets: Socket[];
  /** What to do with the bytes of a COMMIT. */
  let onCommit: (forward: () => void, cut: () => void) => void;
  let proxied: ReturnType<typeof createPool>;

  beforeAll(async () => {
    const target = new URL(database.url);
    sockets = [];
    proxy = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      sockets.push(client, server);
      for (const socket of [client, server]) socket.on("error", () => socket.destroy());
      const cut = () => {
        client.destroy();
        server.destroy();
      };
      client.on("data", (bytes) => {
        const forward = () => server.write(bytes);
        if (bytes.includes("commit\0")) onCommit(forward, cut);
        else forward();
      });
      server.on("data", (bytes) => client.write(bytes));
      client.on("close", () => server.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = new URL(database.url);
    url.port = String((proxy.address() as AddressInfo).port);
    url.searchParams.set("query_timeout", "1000");
    proxied = createPool({ url: url.href, applicationName: "proxied", log: silent });
  });
  afterAll(async () => {
    await proxied.end();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  });

  const UNKNOWN = { kind: "unavailable", reason: "OUTCOME_UNKNOWN" };

  test("before it arrived is an unknown outcome: nothing was done", async () => {
    onCommit = (_, cut) => cut();
    await expect(withTransaction(proxied, (tx) => add(tx, 1))).rejects.toMatchObject(UNKNOWN);
    expect(await counted(1)).toBe(0);
  });

  test("after it arrived is an unknown outcome: all was done, and the work is not run again", async () => {
    onCommit = (forward, cut) => {
      // The server commits while nobody hears its answer.
      for (const socket of sockets) socket.pause();
      forward();
      void waitFor(async () => (await counted(1)) === 1).then(cut);
    };
    let runs = 0;
    const work = withTransaction(proxied, async (tx) => {
      runs++;
      await add(tx, 1);
    });
    await expect(work).rejects.toMatchObject(UNKNOWN);
    expect(await counted(1)).toBe(1);
    expect(runs).toBe(1);
  });

  test("or does not answer is an unknown outcome", async () => {
    onCommit = () => {};
    await expect(withTransaction(proxied, (tx) => add(tx, 1))).rejects.toMatchObject(UNKNOWN);
  });

  test("leaves no connection behind that could be used again", async () => {
    expect(proxied.totalCount).toBe(0);
    onCommit = (forward) => forward();
    await withTransaction(proxied, (tx) => add(tx, 2));
    expect(await counted(2)).toBe(1);
  });
});
