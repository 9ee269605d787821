import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { decodeMessage, denied, notFound, unavailable } from "@lapse/kit";
import type { TableRef } from "@lapse/proto/catalog";
import { ActivityBatchSchema } from "@lapse/proto/events";
import { type Harness, type Published, startHarness } from "./harness.ts";
import { aTable, OTHER_ID, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => {
  harness.reset();
  answerTables((ref) => {
    if (ref.case === "tableId") return aTable({ tableId: ref.value });
    if (ref.case === "name" && ref.value.name === "trial") return aTable();
    return undefined;
  });
});

type Ref = TableRef["ref"];

/** The catalog's answers to one look-up and to many: what `find` does not give is not there. */
function answerTables(find: (ref: Ref) => ReturnType<typeof aTable> | undefined): void {
  const { catalog } = harness.fakes;
  catalog.batchGetTables = ({ tables }) => ({
    tables: tables.flatMap(({ ref }, index) => {
      const table = find(ref);
      return table ? [{ index, table }] : [];
    }),
  });
  catalog.getTable = ({ table }) => {
    const found = table && find(table.ref);
    if (found) return { table: found };
    throw notFound("TABLE_NOT_FOUND", `there is no table ${table?.ref.case}`);
  };
}
afterAll(() => harness.stop());

const report = (body: unknown, options: { token?: string; key?: string } = {}) =>
  harness.call("POST", "/api/v1/activity", {
    body,
    token: options.token ?? "ana",
    headers: options.key === undefined ? {} : { "idempotency-key": options.key },
  });

const methods = () => harness.calls.map(({ method }) => method.split("/")[1]);

const eventsOf = ({ body }: Published) => fromBinary(ActivityBatchSchema, body).events;

const READ = { kind: "read", environment: "dev", table: "bronze.trial" } as const;

describe("POST /activity (T14)", () => {
  test("publishes one event under the table's id, as a CloudEvent", async () => {
    const { status, json } = await report({
      ...READ,
      occurred_at: "2026-11-30T13:00:00.5+02:00",
      source: "trino",
    });
    expect({ status, json }).toEqual({ status: 202, json: { accepted: 1 } });
    const [message] = harness.broker.published;
    if (!message) throw new Error("nothing was published");
    expect(message.subject).toBe("activity.table.read");
    const { event } = decodeMessage({
      ...message,
      stream: "ACTIVITY",
      streamSequence: 1n,
      storedAt: new Date(0),
    });
    expect(event).toMatchObject({
      id: message.id,
      type: "lapse.events.v1.ActivityBatch",
      source: "lapse.gateway",
      contentType: "application/protobuf",
    });
    const [activity] = eventsOf(message);
    expect(activity).toMatchObject({
      tableId: TABLE_ID,
      source: "trino",
      actor: "ana@example.org",
    });
    expect(activity?.occurredAt && timestampDate(activity.occurredAt).toISOString()).toBe(
      "2026-11-30T11:00:00.500Z",
    );
  });

  test("leaves the time to the broker, and the source to the event, when they are not given", async () => {
    await report(READ);
    const [activity] = harness.broker.published.flatMap(eventsOf);
    expect(activity?.occurredAt).toBeUndefined();
    expect(activity?.source).toBe("");
  });

  test("packs many events of a kind into few messages", async () => {
    const events = Array.from({ length: 1_200 }, (_, index) => ({
      kind: index % 3 === 0 ? "written" : "read",
      table_id: TABLE_ID,
    }));
    const { json } = await report({ events });
    expect(json.accepted).toBe(1_200);
    const sizes = harness.broker.published.map((message) => [
      message.subject,
      eventsOf(message).length,
    ]);
    expect(sizes.sort()).toEqual([
      ["activity.table.read", 300],
      ["activity.table.read", 500],
      ["activity.table.written", 400],
    ]);
  });

  test("looks a table up once, however often it is named", async () => {
    await report({ events: [READ, READ, { kind: "written", table_id: OTHER_ID }, READ] });
    expect(methods()).toEqual(["BatchGetTables"]);
  });

  test("looks ten thousand tables up by the thousand", async () => {
    const sizes: number[] = [];
    harness.fakes.catalog.batchGetTables = ({ tables }) => {
      sizes.push(tables.length);
      return { tables: tables.map((_ref, index) => ({ index, table: aTable() })) };
    };
    const events = Array.from({ length: 9_500 }, (_, n) => ({ ...READ, table: `bronze.t${n}` }));
    expect((await report({ events })).status).toBe(202);
    expect(sizes.sort((a, b) => a - b)).toEqual([500, ...Array(9).fill(1_000)]);
    expect(methods()).not.toContain("GetTable");
  });

  test("a name with a dot more belongs to a deeper namespace", async () => {
    let asked: unknown;
    answerTables((ref) => {
      asked = ref.value;
      return aTable();
    });
    await report({ ...READ, table: "bronze.raw.trial" });
    expect(asked).toMatchObject({ namespace: "bronze.raw", name: "trial" });
  });

  test("the same call with the same key makes the same messages, another call others", async () => {
    const twice = async (body: unknown, key?: string) => {
      harness.broker.published = [];
      await report(body, key === undefined ? {} : { key });
      await report(body, key === undefined ? {} : { key });
      return harness.broker.published.map(({ id }) => id);
    };
    const [first, again] = await twice(READ, "k1");
    expect(again).toBe(first);
    expect((await twice(READ, "k2"))[0]).not.toBe(first);
    expect((await twice({ ...READ, source: "spark" }, "k1"))[0]).not.toBe(first);
    const [one, other] = await twice(READ);
    expect(other).not.toBe(one);
  });

  test("two callers with the same key do not take each other's place", async () => {
    await report(READ, { key: "k" });
    await report(READ, { key: "k", token: "root" });
    const [a, b] = harness.broker.published;
    expect(a?.id).not.toBe(b?.id);
  });

  test("lists every table that is not there, and publishes nothing", async () => {
    const { status, json } = await report({
      events: [READ, { ...READ, table: "bronze.gone" }, READ, { ...READ, table: "silver.gone" }],
    });
    expect(status).toBe(404);
    expect(json).toMatchObject({
      code: "TABLE_NOT_FOUND",
      errors: [{ pointer: "#/events/1/table" }, { pointer: "#/events/3/table" }],
    });
    expect(harness.broker.published).toHaveLength(0);
  });

  test("asks one by one why tables are missing, and not for all of many", async () => {
    const events = Array.from({ length: 100 }, (_, n) => ({ ...READ, table: `bronze.gone${n}` }));
    const { status, json } = await report({ events });
    expect({ status, errors: json.errors.length }).toEqual({ status: 404, errors: 100 });
    expect(methods().filter((method) => method === "GetTable")).toHaveLength(20);
  });

  test("T6 who may not know the table is refused as the catalog says, which has recorded it", async () => {
    answerTables(() => undefined);
    harness.fakes.catalog.getTable = () => {
      throw denied("RIGHT_MISSING", "rita lacks the right table.read", {
        details: { right: "table.read" },
      });
    };
    const { status, json } = await report(READ, { token: "rita" });
    expect(status).toBe(403);
    expect(json).toMatchObject({
      code: "RIGHT_MISSING",
      details: { right: "table.read" },
      errors: [{ pointer: "#/table" }],
    });
    expect(methods()).not.toContain("RecordRefusal");
  });

  test("a table that appears between the two look-ups is found", async () => {
    harness.fakes.catalog.batchGetTables = () => ({});
    expect((await report(READ)).status).toBe(202);
  });

  test("a reader may report reads", async () => {
    expect((await report(READ, { token: "rita" })).status).toBe(202);
  });

  test("T6 a reader may not report writes: nothing is published, and the refusal is recorded", async () => {
    const recorded: unknown[] = [];
    harness.fakes.access.recordRefusal = ({ $typeName: _, ...refusal }, { principal }) => {
      recorded.push({ ...refusal, subject: principal.subject });
      return {};
    };
    const { status, json } = await report(
      { events: [READ, { ...READ, kind: "written" }] },
      { token: "rita" },
    );
    expect(status).toBe(403);
    expect(json).toMatchObject({
      code: "RIGHT_MISSING",
      errors: [{ pointer: "#/events/1/table" }],
    });
    expect(harness.broker.published).toHaveLength(0);
    expect(recorded).toEqual([
      {
        subject: "rita@example.org",
        right: "table.write",
        resourceKind: "table",
        resourceId: TABLE_ID,
        resourceName: "bronze.trial",
        resourceEnvironment: "dev",
        method: "POST /api/v1/activity",
      },
    ]);
  });

  test("T6 a refusal that cannot be recorded is no answer: 503, and nothing is published", async () => {
    harness.fakes.access.recordRefusal = () => {
      throw unavailable("DATABASE_UNAVAILABLE", "away");
    };
    const { status } = await report({ ...READ, kind: "written" }, { token: "rita" });
    expect(status).toBe(503);
    expect(harness.broker.published).toHaveLength(0);
  });

  test("T6 a right that the catalog says the caller has on this table is enough", async () => {
    answerTables(() => aTable({ rights: ["table.read", "table.write"] }));
    expect((await report({ ...READ, kind: "written" }, { token: "rita" })).status).toBe(202);
    answerTables(() => aTable({ rights: ["table.read"] }));
    harness.fakes.access.recordRefusal = () => ({});
    expect((await report({ ...READ, kind: "written" }, { token: "rita" })).status).toBe(403);
  });

  test("the owner of a table may report writes, whatever their roles", async () => {
    answerTables(() => aTable({ owner: "rita@example.org" }));
    expect((await report({ ...READ, kind: "written" }, { token: "rita" })).status).toBe(202);
  });

  test("publishes nothing while the catalog is away", async () => {
    harness.fakes.catalog.batchGetTables = () => {
      throw unavailable("DATABASE_UNAVAILABLE", "away");
    };
    expect((await report(READ)).status).toBe(503);
    expect(harness.broker.published).toHaveLength(0);
  });

  test("says that all must be reported again when the broker did not take all", async () => {
    const error = unavailable("NATS_UNAVAILABLE", "NATS cannot be reached");
    harness.broker.failAt = { index: 1, error };
    const events = [READ, { ...READ, kind: "written" }, { ...READ, kind: "maintained" }];
    const failed = await report({ events }, { key: "k" });
    expect(failed.status).toBe(503);
    expect(failed.json).toMatchObject({
      code: "ACTIVITY_NOT_STORED",
      detail: expect.stringContaining("same Idempotency-Key"),
    });
    const before = harness.broker.published.map(({ id }) => id);
    harness.broker.failAt = undefined;
    harness.broker.published = [];
    expect((await report({ events }, { key: "k" })).status).toBe(202);
    expect(harness.broker.published.map(({ id }) => id)).toEqual(expect.arrayContaining(before));
    expect(harness.broker.published).toHaveLength(3);
  });

  test.each([
    [{ kind: "seen", table_id: TABLE_ID }, ["#/kind"]],
    [{ kind: "read" }, ["#/table_id"]],
    [{ kind: "read", environment: "dev" }, ["#/table"]],
    [{ kind: "read", table: "bronze.trial" }, ["#/environment"]],
    [{ ...READ, table_id: TABLE_ID }, ["#/table_id"]],
    [{ ...READ, table: "trial" }, ["#/table"]],
    [{ ...READ, occurred_at: "yesterday" }, ["#/occurred_at"]],
    [{ ...READ, occurred_at: "2026-11-30" }, ["#/occurred_at"]],
    [{ ...READ, who: "me" }, ["#/who"]],
    [{ events: [] }, ["#/events"]],
    [
      { events: [READ, { kind: "x", y: 1 }], more: 1 },
      ["#/events/1/kind", "#/events/1/y", "#/more"],
    ],
    [[READ], ["#"]],
  ])("T10 refuses %j", async (body, pointers) => {
    const { status, json } = await report(body);
    expect(status).toBe(400);
    expect(json.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual(pointers);
  });

  test("takes ten thousand events and no more", async () => {
    const events = Array.from({ length: 10_000 }, () => ({ ...READ, source: "x".repeat(200) }));
    expect((await report({ events })).json).toEqual({ accepted: 10_000 });
    const { status, json } = await report({ events: [...events, READ] });
    expect(status).toBe(400);
    expect(json.errors[0]?.pointer).toBe("#/events");
  });
});
