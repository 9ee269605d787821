import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createLogger, createPool, type Pool } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import type { JsonObject, Rest } from "./rest.ts";
import { type System, startSystem } from "./system.ts";

const DAY_MS = 1_000;
let system: System;
let rest: Rest;

beforeAll(async () => {
  system = await startSystem({
    LAPSE_TIME__DAY_SECONDS: String(DAY_MS / 1000),
    LAPSE_RUN__SWEEP_INTERVAL: "1",
    LAPSE_TABLES__UNDO_DAYS: "3000",
  });
  rest = system.rest(system.token);
}, 120_000);
afterAll(() => system?.stop(), 60_000);

const ENVIRONMENTS = "/api/v1/environments";
const pathOf = (environment: string, name: string) =>
  `${ENVIRONMENTS}/${environment}/namespaces/a/tables/${name}`;

async function ok(method: string, path: string, body?: unknown): Promise<JsonObject> {
  const answer = await rest(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.body;
}
const makeEnvironment = (name: string) => ok("POST", ENVIRONMENTS, { name });
const makeTable = (environment: string, name: string, more: object = {}) =>
  ok("POST", `${ENVIRONMENTS}/${environment}/namespaces/a/tables`, { name, ...more });
const decisionsOf = async (query: string) =>
  (await ok("GET", `/api/v1/audit?limit=1000&${query}`)).items as JsonObject[];
const liveIn = async (environment: string) =>
  ((await ok("GET", `${ENVIRONMENTS}/${environment}/tables?limit=1000`)).items as JsonObject[]).map(
    ({ name }) => String(name),
  );
const isGone = async (environment: string, name: string) =>
  (await rest("GET", pathOf(environment, name))).status === 404;
const gone = (environment: string, name: string) =>
  waitFor(() => isGone(environment, name), { timeoutMs: 15_000, message: `${name} stays` });
/** Waits for a decision that a table is kept, which says that a sweep has wanted it. */
const kept = (id: unknown, reason: string) =>
  waitFor(
    async () =>
      (await decisionsOf(`type=TABLE_KEPT&resource=${id}`)).find((one) => one.reason === reason),
    { timeoutMs: 15_000, message: `no sweep has kept ${id} as ${reason}` },
  );
/** Waits until `n` more sweeps have run. */
async function sweeps(n: number): Promise<void> {
  const count = async () =>
    ((await ok("GET", "/api/v1/sweeps?limit=1000")).items as JsonObject[]).filter(
      ({ finished_at: at }) => at !== null,
    ).length;
  const before = await count();
  await waitFor(async () => (await count()) >= before + n, { timeoutMs: 15_000 });
}

describe("T21 a hold", () => {
  test("of a pipeline task keeps a table that is due, until it is released", async () => {
    await makeEnvironment("held");
    const { id } = await makeTable("held", "task");
    const { id: holdId } = await ok("POST", `${pathOf("held", "task")}/holds`, {
      kind: "pipeline_task",
    });
    await ok("PUT", `${pathOf("held", "task")}/retention`, { days: 1 });
    await kept(id, "held");
    expect(await isGone("held", "task")).toBe(false);
    expect((await ok("GET", `${pathOf("held", "task")}/holds`)).items).toMatchObject([
      { id: holdId, kind: "pipeline_task", holder: "admin" },
    ]);
    await ok("DELETE", `/api/v1/holds/${holdId}`);
    await gone("held", "task");
  }, 40_000);
});

describe("T20 an asset of the project version that is deployed", () => {
  test("does not expire, however long unused, until the project no longer builds it", async () => {
    await makeEnvironment("shop");
    await ok("PUT", `${ENVIRONMENTS}/shop/projects/web`, { version: "1", assets: ["a.orders"] });
    await makeTable("shop", "orders", { expire_after_days: 1 });
    await makeTable("shop", "scratch", { expire_after_days: 1 });
    await gone("shop", "scratch");
    await sweeps(2);
    expect(await ok("GET", pathOf("shop", "orders"))).toMatchObject({
      asset_of: "web 1",
      expires_at: null,
    });
    expect(await ok("GET", `${pathOf("shop", "orders")}/retention`)).toMatchObject({
      kept: "project_asset",
      days: 1,
    });
    await ok("PUT", `${ENVIRONMENTS}/shop/projects/web`, { version: "2", assets: ["a.others"] });
    await gone("shop", "orders");
  }, 40_000);
});

describe("T26 the breaker", () => {
  const DUE = 12;
  const ALL = 20;

  test("holds an environment of which too much is due, until an admin confirms", async () => {
    await makeEnvironment("bulk");
    await Promise.all(
      Array.from({ length: ALL }, async (_, n) => {
        await makeTable("bulk", `t${n}`);
        if (n >= DUE) await ok("PUT", `${pathOf("bulk", `t${n}`)}/retention`, { never: true });
      }),
    );
    await ok("PUT", `${ENVIRONMENTS}/bulk/retention`, { days: 1 });
    const holds = async () =>
      ((await ok("GET", "/api/v1/sweeps/holds")).items as JsonObject[]).filter(
        ({ environment }) => environment === "bulk",
      );
    const [hold] = await waitFor(
      async () => {
        const found = await holds();
        return found.length > 0 ? found : undefined;
      },
      { timeoutMs: 15_000, message: "nothing was held" },
    );
    expect(hold).toMatchObject({ kind: "breaker", tables: ALL, share: 0.5, confirmed_by: null });
    expect(Number(hold?.due)).toBeGreaterThan(ALL / 2);
    await sweeps(2);
    expect(await liveIn("bulk")).toHaveLength(ALL);

    const writer = { subject: "wil", kind: "person", tenant: "local", roles: ["writer"] } as const;
    const refused = await system.rest(await system.sign(writer))("POST", "/api/v1/sweeps/confirm", {
      environment: "bulk",
    });
    expect(refused).toMatchObject({ status: 403, body: { code: "RIGHT_MISSING" } });
    expect(await liveIn("bulk")).toHaveLength(ALL);

    const confirmed = await system.lapse("sweep", "confirm", "--environment", "bulk");
    expect(confirmed).toMatchObject({ code: 0 });
    await waitFor(async () => (await liveIn("bulk")).length === ALL - DUE, { timeoutMs: 20_000 });
    await sweeps(2);
    expect(await liveIn("bulk")).toHaveLength(ALL - DUE);
    for (const type of ["SWEEP_HELD", "SWEEP_CONFIRMED"]) {
      const found = await waitFor(async () => {
        const all = await decisionsOf(`type=${type}&resource=bulk`);
        return all.length > 0 ? all : undefined;
      });
      expect(found).toHaveLength(1);
    }
  }, 60_000);
});

describe("T26 a clock that jumped", () => {
  /** As if the database's clock had been two hours further when it was last looked at. */
  async function lookedAhead(database: string): Promise<void> {
    const pool: Pool = createPool({
      url: await system.databaseUrl(database),
      size: 1,
      applicationName: "test",
      log: createLogger({ service: "test", level: "silent" }),
    });
    const sql = "update lapse_kit.clock_watch set last_seen_at = now() + interval '2 hours'";
    try {
      await waitFor(async () => ((await pool.query(sql)).rowCount ?? 0) > 0);
    } finally {
      await pool.end();
    }
  }

  test("stops sweeps and purges, until an admin says that it is right", async () => {
    await makeEnvironment("clock");
    await makeTable("clock", "t");
    await lookedAhead("lapse_evaluator");
    await lookedAhead("lapse_catalog");
    const clockHolds = async () =>
      ((await ok("GET", "/api/v1/sweeps/holds")).items as JsonObject[]).filter(
        ({ kind }) => kind === "clock",
      );
    await waitFor(async () => (await clockHolds()).length > 0, { timeoutMs: 15_000 });
    await ok("PUT", `${pathOf("clock", "t")}/retention`, { days: 1 });
    const due = async () => {
      const { expires_at: at } = await ok("GET", `${pathOf("clock", "t")}/retention`);
      return Date.parse(String(at)) < Date.now();
    };
    await waitFor(due);
    expect(await ok("POST", "/api/v1/sweeps", { wait_seconds: 20 })).toMatchObject({
      sweep: { status: "held", held_reason: "clock", dropped: 0 },
    });
    expect(await isGone("clock", "t")).toBe(false);
    const said = await system.lapse("sweep", "holds");
    expect(said).toMatchObject({ code: 0, stdout: expect.stringMatching(/clock/) });
    const held = await decisionsOf("type=SWEEP_HELD");
    expect(held.filter(({ reason }) => reason === "clock")).toHaveLength(1);

    expect(await ok("POST", "/api/v1/sweeps/confirm", { clock: true })).toMatchObject({
      holds: [{ kind: "clock", confirmed_by: "admin" }],
    });
    await gone("clock", "t");
    expect(await clockHolds()).toEqual([]);
  }, 60_000);
});
