import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema, TableActivitySchema } from "@lapse/proto/events";
import { waitFor } from "@lapse/test-kit";
import { connect, type NatsConnection, headers as natsHeaders } from "nats";
import type { JsonObject, Rest } from "./rest.ts";
import { type System, startSystem } from "./system.ts";

// Nothing expires here: sweeps are off. A retention day of a minute, so that days can be set to a minute's precision.
const DAY_MS = 60_000;
let system: System;
let rest: Rest;
let broker: NatsConnection;
let tables = 0;

beforeAll(async () => {
  system = await startSystem({
    LAPSE_TIME__DAY_SECONDS: String(DAY_MS / 1000),
    LAPSE_RUN__SWEEP_INTERVAL: "0",
  });
  rest = system.rest(system.token);
  broker = await connect({ servers: system.natsUrl });
  await rest("POST", "/api/v1/environments", { name: "dev" });
}, 120_000);
afterAll(async () => {
  await broker?.close();
  await system?.stop();
}, 60_000);

interface Made {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

async function makeTable(by: Rest = rest): Promise<Made> {
  tables += 1;
  const name = `t${tables}`;
  const created = await by("POST", "/api/v1/environments/dev/namespaces/a/tables", { name });
  expect(created).toMatchObject({ status: 201 });
  return {
    id: String(created.body.id),
    name: `a.${name}`,
    path: `/api/v1/environments/dev/namespaces/a/tables/${name}`,
  };
}

const retention = async ({ path }: Made): Promise<JsonObject> =>
  (await rest("GET", `${path}/retention`)).body;

/** Waits until the table's last activity is this. */
const becomes = (table: Made, at: Date, kind: string) =>
  waitFor(
    async () => {
      const { last_activity_at: seen, last_activity_kind: seenKind } = await retention(table);
      return seen === at.toISOString() && seenKind === kind;
    },
    { message: `the last activity did not become ${kind} at ${at.toISOString()}` },
  );

/** Ahead of every change of the tables, and within the five minutes that are taken as they are (T14). */
const soon = (ms = 60_000) => new Date(Date.now() + ms);

async function publish(
  subject: string,
  body: Uint8Array | object,
  given: Readonly<Record<string, string>> = {},
): Promise<void> {
  const headers = natsHeaders();
  for (const [name, value] of Object.entries(given)) headers.set(name, value);
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body));
  await broker.jetstream().publish(subject, bytes, { headers });
}

const binary = (contentType: string, source = "trino") => ({
  "ce-specversion": "1.0",
  "ce-id": `event-${Math.random()}`,
  "ce-type": "com.example.read",
  "ce-source": source,
  "ce-datacontenttype": contentType,
});
const bytesOf = (tableId: string, at: Date) =>
  toBinary(
    TableActivitySchema,
    create(TableActivitySchema, { tableId, occurredAt: timestampFromDate(at) }),
  );
const jsonOf = (tableId: string, at: Date) => ({ tableId, occurredAt: at.toISOString() });
const envelope = (event: object) => ({
  specversion: "1.0",
  id: `event-${Math.random()}`,
  type: "com.example.read",
  source: "trino",
  ...event,
});

const READ = "activity.table.read";
const FORMS: Readonly<Record<string, (table: Made, at: Date) => Promise<void>>> = {
  "protobuf, as a binary CloudEvent": ({ id }, at) =>
    publish(READ, bytesOf(id, at), binary("application/protobuf")),
  "JSON, as a binary CloudEvent": ({ id }, at) =>
    publish(READ, jsonOf(id, at), binary("application/json")),
  "JSON, as a binary CloudEvent whose headers are in capitals": ({ id }, at) =>
    publish(
      READ,
      jsonOf(id, at),
      Object.fromEntries(
        Object.entries(binary("application/json")).map(([name, value]) => [
          name.toUpperCase(),
          value,
        ]),
      ),
    ),
  "a structured CloudEvent": ({ id }, at) =>
    publish(READ, envelope({ data: jsonOf(id, at) }), {
      "content-type": "application/cloudevents+json",
    }),
  "a structured CloudEvent without a content type": ({ id }, at) =>
    publish(READ, envelope({ data: jsonOf(id, at) })),
  "a structured CloudEvent with protobuf in it": ({ id }, at) =>
    publish(
      READ,
      envelope({
        datacontenttype: "application/protobuf",
        data_base64: Buffer.from(bytesOf(id, at)).toString("base64"),
      }),
    ),
  "JSON and nothing else": ({ id }, at) => publish(READ, jsonOf(id, at)),
  "protobuf and nothing else": ({ id }, at) => publish(READ, bytesOf(id, at)),
  "JSON that names the table": ({ name }, at) =>
    publish(READ, { table: { environment: "dev", name }, occurredAt: at.toISOString() }),
  "a batch in protobuf": ({ id }, at) =>
    publish(
      READ,
      toBinary(
        ActivityBatchSchema,
        create(ActivityBatchSchema, {
          events: [new Date(0), at].map((time) => ({
            tableId: id,
            occurredAt: timestampFromDate(time),
          })),
        }),
      ),
    ),
  "a batch in JSON": ({ id }, at) =>
    publish(READ, { events: [jsonOf(id, at), jsonOf(id, new Date(0))] }),
  "a report by REST": async ({ id }, at) => {
    const report = { kind: "read", table_id: id, occurred_at: at.toISOString() };
    expect(await rest("POST", "/api/v1/activity", report)).toMatchObject({ status: 202 });
  },
};

describe("T14 a read counts that comes as", () => {
  test.each(Object.keys(FORMS))("%s", async (form) => {
    const table = await makeTable();
    const at = soon();
    await FORMS[form]?.(table, at);
    await becomes(table, at, "read");
  });
});

describe("T13 T14 T15 what counts", () => {
  test("T13 each kind of activity is told apart, and the latest of all is the last", async () => {
    const table = await makeTable();
    const kinds = ["written", "maintained", "read", "changed"];
    for (const [at, kind] of kinds.entries()) {
      const time = soon(60_000 + at * 1_000);
      await publish(`activity.table.${kind}`, jsonOf(table.id, time));
      await becomes(table, time, kind);
    }
  });

  test("T14 events that are late, out of order or repeated move nothing back", async () => {
    const [table, witness] = [await makeTable(), await makeTable()];
    const latest = soon();
    const event = binary("application/json");
    await publish(READ, jsonOf(table.id, latest), event);
    for (const at of [new Date(0), soon(-1_000), latest]) {
      await publish(READ, jsonOf(table.id, at), at === latest ? event : {});
    }
    const after = soon();
    await publish(READ, jsonOf(witness.id, after));
    await becomes(witness, after, "read");
    expect(await retention(table)).toMatchObject({ last_activity_at: latest.toISOString() });
  });

  test("T14 an event for the far future counts as now", async () => {
    const table = await makeTable();
    const before = Date.now();
    await publish(READ, jsonOf(table.id, soon(3_600_000)));
    const seen = await waitFor(async () => {
      const { last_activity_at: at, last_activity_kind: kind } = await retention(table);
      return kind === "read" ? Date.parse(String(at)) : undefined;
    });
    expect(seen).toBeGreaterThanOrEqual(before - 1_000);
    expect(seen).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  test("T15 a read does not move a date", async () => {
    const table = await makeTable();
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await rest("PUT", `${table.path}/retention`, { on: day });
    const at = soon();
    await publish(READ, jsonOf(table.id, at));
    await becomes(table, at, "read");
    expect(await retention(table)).toMatchObject({ on: day, expires_at: `${day}T00:00:00.000Z` });
  });
});

describe("T16 reports of Iceberg clients", () => {
  const report = async ({ name }: Made, body: object) =>
    rest("POST", `/v1/dev/namespaces/a/tables/${name.slice(2)}/metrics`, body);
  const about = { "table-name": "a.t", "snapshot-id": "9007199254740993", metrics: {} };

  test.each([
    ["read", { "report-type": "scan-report", filter: true, "schema-id": 0 }],
    ["written", { "report-type": "commit-report", "sequence-number": 7, operation: "append" }],
    ["maintained", { "report-type": "commit-report", "sequence-number": 8, operation: "replace" }],
  ])("count as %s", async (kind, body) => {
    const table = await makeTable();
    const before = Date.now();
    expect(await report(table, { ...about, ...body })).toMatchObject({ status: 204 });
    const seen = await waitFor(async () => {
      const { last_activity_at: at, last_activity_kind: last } = await retention(table);
      return last === kind ? Date.parse(String(at)) : undefined;
    });
    expect(seen).toBeGreaterThanOrEqual(before - 1_000);
  });

  test("on a table that is not there are answered as Iceberg answers", async () => {
    const body = { ...about, "report-type": "scan-report" };
    const answer = await rest("POST", "/v1/dev/namespaces/a/tables/nope/metrics", body);
    expect(answer).toMatchObject({
      status: 404,
      body: { error: { type: "NoSuchTableException", code: 404 } },
    });
  });
});

describe("T18 coverage", () => {
  test("shows which sources have reported reads of a table, and when last", async () => {
    const [table, silent] = [await makeTable(), await makeTable()];
    const at = soon();
    await publish(READ, jsonOf(table.id, at), binary("application/json", "trino"));
    await publish(READ, { ...jsonOf(table.id, at), source: "spark" });
    const sources = await waitFor(async () => {
      const { body } = await rest("GET", `${table.path}/reads`);
      const found = body.sources as JsonObject[];
      return found.length === 2 ? found : undefined;
    });
    expect(sources.map(({ source }) => source).sort()).toEqual(["spark", "trino"]);
    expect((await rest("GET", `${silent.path}/reads`)).body).toMatchObject({ sources: [] });
  });
});

describe("T6 what a change is judged by", () => {
  /** A day that is still to come, and days of retention that end less than a minute and a half before it. */
  function justBefore() {
    const margin = 30_000;
    const midnight = new Date();
    midnight.setUTCHours(24, 0, 0, 0);
    if (midnight.getTime() - Date.now() < 3 * DAY_MS)
      midnight.setUTCDate(midnight.getUTCDate() + 1);
    const days = Math.floor((midnight.getTime() - Date.now() - margin) / DAY_MS);
    return { days, on: midnight.toISOString().slice(0, 10) };
  }
  const person = async (subject: string, role: string) =>
    system.rest(await system.sign({ subject, kind: "person", tenant: "local", roles: [role] }));

  test("T6 a read that was stored right before the call decides", async () => {
    const writer = await person("wil", "writer");
    const [read, unread] = [await makeTable(), await makeTable()];
    const { days, on } = justBefore();
    for (const { path } of [read, unread]) {
      expect(await rest("PUT", `${path}/retention`, { days })).toMatchObject({ status: 200 });
    }
    // It expires after `on` from now on, so that `on` is sooner.
    await publish(READ, jsonOf(read.id, soon(4 * 60_000)));
    expect(await writer("PUT", `${read.path}/retention`, { on })).toMatchObject({
      status: 403,
      body: { code: "RIGHT_MISSING", details: { right: "table.drop" } },
    });
    expect(await writer("PUT", `${unread.path}/retention`, { on })).toMatchObject({
      status: 200,
      body: { shortened: false, set_by: "wil" },
    });
  });

  test("T6 while the evaluator stands still, who has one right is told within two seconds, others go on", async () => {
    const [writer, owner] = [await person("wil", "writer"), await person("olga", "data_engineer")];
    const table = await makeTable(owner);
    const pid = system.pid("lifecycle-evaluator");
    process.kill(pid, "SIGSTOP");
    try {
      const started = Date.now();
      expect(await writer("PUT", `${table.path}/retention`, { days: 9 })).toMatchObject({
        status: 503,
        body: { code: "EVALUATOR_BEHIND" },
      });
      expect(Date.now() - started).toBeLessThan(2_500);
      expect(await owner("PUT", `${table.path}/retention`, { days: 9 })).toMatchObject({
        status: 200,
        body: { shortened: null },
      });
      expect(await writer("PUT", `${table.path}/retention`, { never: true })).toMatchObject({
        status: 200,
        body: { shortened: false },
      });
    } finally {
      process.kill(pid, "SIGCONT");
    }
  }, 30_000);
});
