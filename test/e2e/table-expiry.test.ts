import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { TableActivitySchema } from "@lapse/proto/events";
import { LapseApiError, type Table } from "@lapse/sdk";
import { waitFor } from "@lapse/test-kit";
import { connect, headers as natsHeaders } from "nats";
import { decisionsAbout, type System, startSystem } from "./system.ts";

const DAY_MS = 6_000;
let system: System;

beforeAll(async () => {
  system = await startSystem({
    LAPSE_TIME__DAY_SECONDS: String(DAY_MS / 1000),
    LAPSE_RUN__SWEEP_INTERVAL: "1",
    LAPSE_TABLES__UNDO_DAYS: "10",
  });
  expect(await system.lapse("env", "create", "dev")).toMatchObject({ code: 0 });
}, 120_000);
afterAll(() => system?.stop(), 60_000);

async function createTrial(name: string, rows = 1000): Promise<Table> {
  const query = `SELECT range AS id, random() AS v FROM range(${rows})`;
  const args = ["--into", name, "--mode", "create", "--expire-after", "1"];
  const ran = await system.lapse("sql", query, ...args);
  expect(ran).toMatchObject({ code: 0 });
  return system.client.tables.get("dev", name);
}

const isGone = (name: string) =>
  system.client.tables.get("dev", name).then(
    () => false,
    (error: unknown) => {
      if (error instanceof LapseApiError && error.notFound) return true;
      throw error;
    },
  );

describe("a table nobody uses", () => {
  test("T1 T2 T13 T23 T27 T28 T32 lives while it is read, is dropped when due and not before, and comes back", async () => {
    const table = await createTrial("bronze.trial", 100_000);
    const shown = await system.lapse("table", "retention", "bronze.trial");
    expect(shown.stdout).toMatch(/1 day after its last activity \(set on the table\)/);
    expect(shown.stdout).toMatch(/set by\s+admin/);
    expect(shown.stdout).toMatch(/last activity\s+\d{4}/);

    const until = Date.now() + 1.5 * DAY_MS;
    while (Date.now() < until) {
      const count = await system.lapse("sql", "SELECT count(*) AS n FROM bronze.trial", "--json");
      expect(JSON.parse(count.stdout)).toEqual([{ n: "100000" }]);
    }

    const { expires_at: expiresAt } = await system.client.tables.retention("dev", "bronze.trial");
    await waitFor(() => isGone("bronze.trial"), { timeoutMs: 30_000 });
    const dropped = await waitFor(async () =>
      (await decisionsAbout(system.client, table.id)).find((one) => one.type === "TABLE_DROPPED"),
    );
    expect(dropped).toMatchObject({ actor: null, reason: "retention", outcome: "done" });
    expect(dropped.details.retention).toMatchObject({
      source: "table",
      days: 1,
      set_by: "admin",
      expired_at: expiresAt?.toISOString(),
    });
    expect(dropped.at.getTime()).toBeGreaterThanOrEqual(expiresAt?.getTime() ?? Number.NaN);

    const undropped = await system.lapse("table", "undrop", "bronze.trial");
    expect(undropped).toMatchObject({ code: 0 });
    expect(undropped.stdout).toMatch(/100000 rows/);
    const restored = await system.client.tables.get("dev", "bronze.trial");
    expect(restored.id).toBe(table.id);
    const sweeps = async () =>
      (await system.client.sweeps.list().page({ limit: 1000 })).items.length;
    const before = await sweeps();
    await waitFor(async () => (await sweeps()) >= before + 2, { timeoutMs: 20_000 });
    expect(await isGone("bronze.trial")).toBe(false);

    const list = await system.lapse("audit", "list", "--resource", "bronze.trial");
    for (const type of ["TABLE_RETENTION_SET", "TABLE_DROPPED", "TABLE_RESTORED"]) {
      expect(list.stdout).toContain(type);
    }
  }, 90_000);

  test("T14 an event from a plain NATS client keeps it, in JSON and in protobuf, as a query does", async () => {
    const [json, proto, idle] = await Promise.all(
      ["events.json", "events.proto", "events.idle"].map((name) => createTrial(name)),
    );
    if (!json || !proto || !idle) throw new Error("three tables were asked for");
    const connection = await connect({ servers: system.natsUrl });
    const js = connection.jetstream();
    const asJson = natsHeaders();
    asJson.set("content-type", "application/json");
    try {
      const until = Date.now() + 2 * DAY_MS;
      while (Date.now() < until) {
        const now = new Date();
        await js.publish(
          "activity.table.read",
          new TextEncoder().encode(
            JSON.stringify({ tableId: json.id, occurredAt: now.toISOString(), source: "plain" }),
          ),
          { headers: asJson },
        );
        const message = create(TableActivitySchema, {
          tableId: proto.id,
          occurredAt: timestampFromDate(now),
        });
        await js.publish("activity.table.read", toBinary(TableActivitySchema, message));
        await new Promise((resolve) => setTimeout(resolve, DAY_MS / 6));
      }
      expect(await isGone("events.json")).toBe(false);
      expect(await isGone("events.proto")).toBe(false);
      expect(await isGone("events.idle")).toBe(true);
    } finally {
      await connection.close();
    }
  }, 60_000);

  test("T7 T8 T9 an environment's retention takes those without a rule, after the full period; never wins", async () => {
    await system.client.environments.create("lab");
    const make = (name: string) =>
      system.client.tables.create("lab", name, { columns: [{ name: "id", type: "BIGINT" }] });
    const [old, kept] = await Promise.all([make("a.old"), make("a.kept")]);
    await system.client.tables.setRetention("lab", "a.kept", { never: true });
    await new Promise((resolve) => setTimeout(resolve, DAY_MS));
    const setAt = Date.now();
    const asked = await system.lapse("env", "retention", "lab", "--days", "1");
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/--yes/) });
    expect(await system.lapse("env", "retention", "lab", "--days", "1", "--yes")).toMatchObject({
      code: 0,
    });
    const dropped = await waitFor(
      async () =>
        (await decisionsAbout(system.client, old.id)).find((one) => one.type === "TABLE_DROPPED"),
      { timeoutMs: 30_000 },
    );
    expect(dropped.at.getTime() - setAt).toBeGreaterThanOrEqual(DAY_MS);
    expect(dropped.details.retention).toMatchObject({ source: "environment", days: 1 });
    expect(await system.client.tables.get("lab", "a.kept")).toMatchObject({ id: kept.id });
  }, 60_000);

  test("T19 a protected environment refuses days for its tables, and takes never", async () => {
    await system.client.environments.create("prod", { protected: true });
    await system.client.tables.create("prod", "a.b", { columns: [{ name: "id", type: "BIGINT" }] });
    const refused = await system.lapse("table", "retention", "a.b", "--days", "1", "--env", "prod");
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringMatching(/protected/) });
    expect(
      await system.lapse("table", "retention", "a.b", "--never", "--env", "prod"),
    ).toMatchObject({
      code: 0,
    });
  }, 30_000);
});

describe("bad calls", () => {
  beforeAll(async () => {
    await system.client.tables.create("dev", "bad.calls", {
      columns: [{ name: "id", type: "BIGINT" }],
    });
  });

  test.each([
    [["table", "get", "bronze.nope"], 4, /nope/],
    [["table", "retention", "bad.calls", "--days", "0"], 2, /1.*3650/],
    [["table", "retention", "bad.calls", "--on", "2020-01-01"], 2, /drop/],
    [["table", "retention", "bad.calls", "--on", "30d"], 2, /date/],
    [["table", "create", "nodot", "--column", "id:long"], 2, /namespace/],
    [["sql", "SELECT * FROM bronze.nope"], 4, /nope/],
    [
      ["sql", "SELECT 1", "--into", "a.b", "--mode", "append", "--expire-after", "3"],
      2,
      /table retention/,
    ],
    [["env", "create", "No Such Name"], 2, /name/],
  ])("lapse %j says what to do", async (args, code, message) => {
    const ran = await system.lapse(...args);
    expect(ran).toMatchObject({ code, stderr: expect.stringMatching(message) });
  });

  test("without a valid token every route answers 401 as a problem", async () => {
    for (const authorization of [undefined, "Bearer nonsense", "Basic YTpi"]) {
      const response = await fetch(`${system.url}/api/v1/environments`, {
        headers: authorization ? { authorization } : {},
      });
      expect(response.status).toBe(401);
      expect(response.headers.get("content-type")).toMatch(/application\/problem\+json/);
      expect(await response.json()).toMatchObject({ code: expect.any(String), status: 401 });
    }
  });
});

describe("for operators", () => {
  test("ops status says that all is well, and the chain verifies", async () => {
    const status = await system.lapse("ops", "status");
    expect(status).toMatchObject({ code: 0 });
    const verified = await system.lapse("audit", "verify");
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/whole/) });
  });

  test("T25 sweeps are paused, run dry, and resumed", async () => {
    expect(await system.lapse("sweep", "pause", "--reason", "test")).toMatchObject({ code: 0 });
    await createTrial("paused.table");
    await new Promise((resolve) => setTimeout(resolve, 1.5 * DAY_MS));
    expect(await isGone("paused.table")).toBe(false);
    const dry = await system.lapse("sweep", "run", "--dry-run");
    expect(dry.stdout).toMatch(/paused\.table/);
    expect(await isGone("paused.table")).toBe(false);
    expect(await system.lapse("sweep", "resume")).toMatchObject({ code: 0 });
    await waitFor(() => isGone("paused.table"), { timeoutMs: 20_000 });
  }, 60_000);
});
