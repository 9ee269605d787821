import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { alreadyExists, conflict, notFound, precondition, unavailable } from "@lapse/kit";
import { CommitOperation } from "@lapse/proto/catalog";
import { TableKind, TableState } from "@lapse/proto/events";
import { type Harness, startHarness } from "./harness.ts";
import { anExpiry, aTable, at, OTHER_ID, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const TABLE = "/api/v1/environments/dev/namespaces/bronze/tables/trial";
const TABLES = "/api/v1/environments/dev/namespaces/bronze/tables";

describe("GET a table", () => {
  test("T12 shows the table with its expiry, by name", async () => {
    harness.fakes.catalog.getTable = ({ table }) => {
      expect(table?.ref).toMatchObject({
        case: "name",
        value: { environment: "dev", namespace: "bronze", name: "trial" },
      });
      return { table: aTable() };
    };
    harness.fakes.evaluator.batchGetTableExpiry = () => ({
      expiries: [anExpiry({ expiresSoon: true })],
    });
    const { status, json } = await harness.call("GET", TABLE);
    expect(status).toBe(200);
    expect(json).toEqual({
      id: TABLE_ID,
      environment: "dev",
      namespace: "bronze",
      name: "trial",
      full_name: "bronze.trial",
      kind: "managed",
      state: "live",
      owner: "ana@example.org",
      description: "a trial",
      columns: [{ name: "id", type: "BIGINT", required: true }],
      location: "file:///data/local--dev/dev/1",
      row_count: 100,
      byte_size: 2048,
      file_count: 1,
      version: 7,
      created_at: "2026-11-01T00:00:00.000Z",
      last_changed_at: "2026-11-20T10:00:00.123Z",
      restored_at: null,
      expires_at: "2026-12-21T10:00:00.000Z",
      expires_soon: true,
      expiry_unknown: false,
      rights: ["table.read"],
      asset_of: null,
    });
  });

  test("asks for an expiry at least as new as the catalog's row", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable() });
    let asked: unknown;
    harness.fakes.evaluator.batchGetTableExpiry = ({ tables }) => {
      asked = tables;
      return { expiries: [anExpiry()] };
    };
    await harness.call("GET", TABLE);
    expect(asked).toMatchObject([
      {
        tableId: TABLE_ID,
        atLeast: { changeVersion: 7n, retentionVersion: 5n, policyVersion: 3n },
      },
    ]);
  });

  test("takes names as data, whatever is in them", async () => {
    let asked: unknown;
    harness.fakes.catalog.getTable = ({ table }) => {
      asked = table?.ref.value;
      throw notFound("TABLE_NOT_FOUND", "there is no such table");
    };
    const name = `a/b"'; drop table x; -- é 漢`;
    const path = `/api/v1/environments/dev/namespaces/bronze.raw/tables/${encodeURIComponent(name)}`;
    const { status, json } = await harness.call("GET", path);
    expect(asked).toMatchObject({ environment: "dev", namespace: "bronze.raw", name });
    expect(status).toBe(404);
    expect(json.code).toBe("TABLE_NOT_FOUND");
  });

  test("by id: an id that is none is refused before anybody is asked", async () => {
    const { status, json } = await harness.call("GET", "/api/v1/tables/trial");
    expect(status).toBe(400);
    expect(json.errors).toEqual([{ pointer: "#/id", detail: expect.stringContaining("UUID") }]);
    expect(harness.calls).toHaveLength(0);
  });

  test("T22 a view has no expiry to ask for", async () => {
    harness.fakes.catalog.getTable = () => ({
      table: aTable({ kind: TableKind.VIEW, location: "" }),
    });
    const { json } = await harness.call("GET", `/api/v1/tables/${TABLE_ID}`);
    expect(json).toMatchObject({ kind: "view", expires_at: null, expiry_unknown: false });
    expect(harness.calls.map(({ method }) => method)).toEqual([
      "lapse.catalog.v1.CatalogService/GetTable",
    ]);
  });

  test("a count that JSON cannot carry is a fault of ours, never a rounded number", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable({ rowCount: 2n ** 53n }) });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    const { status, json } = await harness.call("GET", TABLE);
    expect(status).toBe(500);
    expect(json.code).toBe("INTERNAL");
    expect(json.detail).not.toContain("9007199254740992");
  });
});

describe("GET the tables of an environment", () => {
  test("hands limit and cursor on, and the next cursor back", async () => {
    harness.fakes.catalog.listTables = ({ environment, namespace, limit, cursor }) => {
      expect(environment?.ref).toMatchObject({ case: "name", value: "dev" });
      expect({ namespace, limit, cursor }).toEqual({ namespace: "", limit: 2, cursor: "abc" });
      return { tables: [aTable()], nextCursor: "def" };
    };
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    const { json } = await harness.call(
      "GET",
      "/api/v1/environments/dev/tables?limit=2&cursor=abc",
    );
    expect(json.next_cursor).toBe("def");
    expect(json.items).toHaveLength(1);
  });

  test("of one namespace; the last page has no cursor", async () => {
    harness.fakes.catalog.listTables = ({ namespace, limit }) => {
      expect({ namespace, limit }).toEqual({ namespace: "bronze", limit: 100 });
      return {};
    };
    const { json } = await harness.call("GET", TABLES);
    expect(json).toEqual({ items: [], next_cursor: null });
  });

  test("T12 takes one question for the expiries of a thousand tables", async () => {
    const tables = Array.from({ length: 1_000 }, (_, n) => {
      const tableId = `0190f3a2-7c1e-7b1a-9d3e-${String(n).padStart(12, "0")}`;
      return aTable({ tableId, name: `t${n}` });
    });
    harness.fakes.catalog.listTables = () => ({ tables, nextCursor: "n" });
    harness.fakes.evaluator.batchGetTableExpiry = (request) => ({
      expiries: request.tables.map(({ tableId }) => anExpiry({ tableId, expiresSoon: true })),
    });
    const { json } = await harness.call("GET", `${TABLES}?limit=1000`);
    const items = json.items as { expires_soon: boolean }[];
    expect(items.filter((table) => table.expires_soon)).toHaveLength(1_000);
    expect(harness.calls.map(({ method }) => method.split("/")[1])).toEqual([
      "ListTables",
      "BatchGetTableExpiry",
    ]);
  });

  test("T12 marks the tables whose expiry is not known yet", async () => {
    harness.fakes.catalog.listTables = () => ({
      tables: [aTable(), aTable({ tableId: OTHER_ID, name: "new" })],
    });
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    const { json } = await harness.call("GET", TABLES);
    expect(json.items).toMatchObject([
      { name: "trial", expires_at: "2026-12-21T10:00:00.000Z", expiry_unknown: false },
      { name: "new", expires_at: null, expiry_unknown: true },
    ]);
  });

  test("T12 answers while the evaluator does not, and says that expiries are unknown", async () => {
    harness.fakes.catalog.listTables = () => ({ tables: [aTable()] });
    harness.fakes.evaluator.batchGetTableExpiry = () => {
      throw unavailable("EVALUATOR_BEHIND", "not folded yet");
    };
    const { status, json } = await harness.call("GET", TABLES);
    expect(status).toBe(200);
    expect(json.items).toMatchObject([
      { expires_at: null, expires_soon: false, expiry_unknown: true },
    ]);
  });

  test("does not wait for an evaluator that hangs", async () => {
    harness.fakes.catalog.listTables = () => ({ tables: [aTable()] });
    harness.fakes.evaluator.batchGetTableExpiry = () => new Promise(() => {});
    const startedAt = performance.now();
    const { json } = await harness.call("GET", TABLES);
    expect(json.items).toMatchObject([{ expiry_unknown: true }]);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  test.each([
    ["limit=0", "#/limit"],
    ["limit=1001", "#/limit"],
    ["limit=ten", "#/limit"],
    ["limit=1&limit=2", "#/limit"],
    ["cursor=", "#/cursor"],
    ["page=2", "#/page"],
  ])("refuses ?%s, pointing at it", async (query, pointer) => {
    const { status, json } = await harness.call("GET", `${TABLES}?${query}`);
    expect(status).toBe(400);
    expect(json.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
    expect(harness.calls).toHaveLength(0);
  });
});

describe("POST a table", () => {
  const known = () => {
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
  };

  test("creates it live when nothing else is asked for", async () => {
    known();
    harness.fakes.catalog.createTable = (request) => {
      expect(request).toMatchObject({
        name: { environment: "dev", namespace: "bronze", name: "trial" },
        kind: TableKind.MANAGED,
        staged: false,
        columns: [{ name: "id", type: "BIGINT", required: false }],
      });
      return { table: aTable() };
    };
    const body = { name: "trial", columns: [{ name: "id", type: "BIGINT" }] };
    const { status, json } = await harness.call("POST", TABLES, { body });
    expect(status).toBe(201);
    expect(json.full_name).toBe("bronze.trial");
  });

  test("T1 with expire_after_days sets the retention before anybody can see the table", async () => {
    known();
    harness.fakes.catalog.createTable = ({ staged }) => {
      expect(staged).toBe(true);
      return { table: aTable({ state: TableState.STAGED }) };
    };
    harness.fakes.policy.setTableRetention = ({ tableId, rule }) => {
      expect(tableId).toBe(TABLE_ID);
      expect(rule?.rule).toMatchObject({ case: "days", value: 3 });
      return {};
    };
    harness.fakes.catalog.commitTable = ({ table, operation, files }) => {
      expect(table?.ref).toMatchObject({ case: "tableId", value: TABLE_ID });
      expect({ operation, files }).toEqual({ operation: CommitOperation.APPEND, files: [] });
      return { table: aTable() };
    };
    const { status, json } = await harness.call("POST", TABLES, {
      body: { name: "trial", expire_after_days: 3 },
      headers: { "idempotency-key": "key-1" },
    });
    expect(status).toBe(201);
    expect(json.state).toBe("live");
    const writes = harness.calls.slice(0, 3);
    expect(writes.map(({ method }) => method.split("/")[1])).toEqual([
      "CreateTable",
      "SetTableRetention",
      "CommitTable",
    ]);
    expect(writes.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["key-1", "key-1", "key-1"]);
  });

  test("T1 staged with expire_after_days stays staged", async () => {
    known();
    harness.fakes.catalog.createTable = () => ({ table: aTable({ state: TableState.STAGED }) });
    harness.fakes.policy.setTableRetention = () => ({});
    harness.fakes.catalog.getTable = () => ({ table: aTable({ state: TableState.STAGED }) });
    const body = { name: "trial", staged: true, expire_after_days: 3 };
    const { json } = await harness.call("POST", TABLES, { body });
    expect(json.state).toBe("staged");
  });

  const failing = (error: Error) => {
    const dropped: unknown[] = [];
    harness.fakes.catalog.createTable = () => ({ table: aTable({ state: TableState.STAGED }) });
    harness.fakes.policy.setTableRetention = () => {
      throw error;
    };
    harness.fakes.catalog.dropTable = ({ table }) => {
      dropped.push(table?.ref.value);
      return { table: aTable({ state: TableState.PURGING }) };
    };
    return dropped;
  };
  const body = { name: "trial", expire_after_days: 3 };

  test("T19 a refused retention leaves no table behind", async () => {
    const dropped = failing(precondition("ENVIRONMENT_PROTECTED", "dev is protected"));
    const { status, json } = await harness.call("POST", TABLES, {
      body,
      headers: { "idempotency-key": "key-1" },
    });
    expect(status).toBe(409);
    expect(json.code).toBe("ENVIRONMENT_PROTECTED");
    expect(dropped).toEqual([TABLE_ID]);
  });

  test("T1 a service that is away half-way leaves it to the repeat with the same key", async () => {
    const dropped = failing(unavailable("DATABASE_UNAVAILABLE", "repeat the call"));
    const { status } = await harness.call("POST", TABLES, {
      body,
      headers: { "idempotency-key": "key-1" },
    });
    expect(status).toBe(503);
    expect(dropped).toEqual([]);
  });

  test("T1 without a key a repeat would start anew, so the rest is given up", async () => {
    const dropped = failing(unavailable("DATABASE_UNAVAILABLE", "repeat the call"));
    await harness.call("POST", TABLES, { body });
    expect(dropped).toEqual([TABLE_ID]);
  });

  test("tells the first failure even when giving up fails too", async () => {
    failing(precondition("ENVIRONMENT_PROTECTED", "dev is protected"));
    harness.fakes.catalog.dropTable = () => {
      throw precondition("TABLE_HELD", "held");
    };
    const { json } = await harness.call("POST", TABLES, { body });
    expect(json.code).toBe("ENVIRONMENT_PROTECTED");
    expect(harness.logged).toContainEqual(
      expect.objectContaining({
        msg: "a staged table was left to be cleaned up",
        table_id: TABLE_ID,
      }),
    );
  });

  test("T22 a view with a retention is refused before it exists", async () => {
    const { status, json } = await harness.call("POST", TABLES, {
      body: { name: "trial", kind: "view", expire_after_days: 3 },
    });
    expect(status).toBe(400);
    expect(json.errors[0]?.pointer).toBe("#/expire_after_days");
    expect(harness.calls).toHaveLength(0);
  });

  test("a name that is taken is a conflict", async () => {
    harness.fakes.catalog.createTable = () => {
      throw alreadyExists("NAME_TAKEN", "there is a table bronze.trial already");
    };
    const { status, json } = await harness.call("POST", TABLES, { body: { name: "trial" } });
    expect({ status, code: json.code }).toEqual({ status: 409, code: "NAME_TAKEN" });
  });

  test("points at every fault of the body at once", async () => {
    const { status, json } = await harness.call("POST", TABLES, {
      body: {
        name: 5,
        kind: "sheet",
        columns: [{ name: "a", type: 1, nullable: true }],
        description: "\ud800",
        "odd/key~": 1,
      },
    });
    expect(status).toBe(400);
    expect(json.code).toBe("REQUEST_INVALID");
    expect(json.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      "#/columns/0/nullable",
      "#/columns/0/type",
      "#/description",
      "#/kind",
      "#/name",
      "#/odd~1key~0",
    ]);
  });
});

describe("other writes of a table", () => {
  beforeEach(() => {
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
  });

  test("PATCH changes the description", async () => {
    harness.fakes.catalog.updateTable = ({ description }) => ({
      table: aTable({ description: description ?? "" }),
    });
    const { json } = await harness.call("PATCH", TABLE, { body: { description: "new" } });
    expect(json.description).toBe("new");
  });

  test("T13 PATCH renames and moves, and leaves out what is not to change", async () => {
    const asked: unknown[] = [];
    harness.fakes.catalog.updateTable = ({ description, name, namespace }, { idempotencyKey }) => {
      asked.push([description, name, namespace, idempotencyKey]);
      return { table: aTable({ name: name ?? "trial", namespace: namespace ?? "bronze" }) };
    };
    const key = { headers: { "idempotency-key": "key-1" } };
    const moved = await harness.call("PATCH", TABLE, {
      body: { name: "trial2", namespace: "silver.raw" },
      ...key,
    });
    expect(moved.json.full_name).toBe("silver.raw.trial2");
    await harness.call("PATCH", `/api/v1/tables/${TABLE_ID}`, { body: { description: "" } });
    expect(asked).toEqual([
      [undefined, "trial2", "silver.raw", "key-1"],
      ["", undefined, undefined, undefined],
    ]);
  });

  test("T10 PATCH that changes nothing is refused", async () => {
    const { status, json } = await harness.call("PATCH", TABLE, { body: {} });
    expect({ status, errors: json.errors }).toEqual({
      status: 400,
      errors: [{ pointer: "#", detail: "give at least one of description, name and namespace" }],
    });
  });

  test("T27 DELETE drops, and says until when it can come back", async () => {
    harness.fakes.catalog.dropTable = () => ({
      table: aTable({
        state: TableState.DROPPED,
        droppedAt: at("2026-11-30T12:00:00Z"),
        dropReason: "request",
        undoUntil: at("2026-12-07T12:00:00Z"),
      }),
    });
    const { status, json } = await harness.call("DELETE", TABLE);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      state: "dropped",
      dropped_at: "2026-11-30T12:00:00.000Z",
      drop_reason: "request",
      undo_until: "2026-12-07T12:00:00.000Z",
      expires_at: null,
      expiry_unknown: false,
    });
  });

  test("T28 undrop by name brings the last one back, under another name where asked", async () => {
    harness.fakes.catalog.undropTable = ({ table, asName }) => {
      expect(table?.ref.case).toBe("name");
      return { table: aTable({ name: asName, restoredAt: at("2026-11-30T12:00:00Z") }) };
    };
    const { json } = await harness.call("POST", `${TABLE}/undrop`, { body: { as: "trial2" } });
    expect(json).toMatchObject({ name: "trial2", restored_at: "2026-11-30T12:00:00.000Z" });
  });

  test("T28 undrop needs no body", async () => {
    harness.fakes.catalog.undropTable = () => ({ table: aTable() });
    expect((await harness.call("POST", `${TABLE}/undrop`)).status).toBe(200);
  });

  test("T29 undrop of one generation by its id", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable({ state: TableState.DROPPED }) });
    harness.fakes.catalog.undropTable = ({ table }) => {
      expect(table?.ref).toMatchObject({ case: "tableId", value: TABLE_ID });
      return { table: aTable() };
    };
    const byName = await harness.call("POST", `${TABLE}/undrop`, { body: { id: TABLE_ID } });
    expect(byName.status).toBe(200);
    const path = `/api/v1/environments/dev/dropped-tables/${TABLE_ID}/undrop`;
    expect((await harness.call("POST", path, { body: {} })).status).toBe(200);
  });

  test("T29 an id of a table elsewhere is not undropped from here", async () => {
    harness.fakes.catalog.getTable = () => ({
      table: aTable({ environment: "prod", state: TableState.DROPPED }),
    });
    const path = `/api/v1/environments/dev/dropped-tables/${TABLE_ID}/undrop`;
    const { status, json } = await harness.call("POST", path, { body: {} });
    expect({ status, code: json.code }).toEqual({ status: 404, code: "TABLE_NOT_FOUND" });
    const other = await harness.call("POST", TABLE.replace("trial", "other").concat("/undrop"), {
      body: { id: TABLE_ID },
    });
    expect(other.status).toBe(404);
    expect(harness.calls.map(({ method }) => method)).not.toContain(
      "lapse.catalog.v1.CatalogService/UndropTable",
    );
  });

  test("T29 a repeated undrop under another name finds the table that is back by now", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable({ name: "trial2" }) });
    harness.fakes.catalog.undropTable = () => ({ table: aTable({ name: "trial2" }) });
    const body = { id: TABLE_ID, as: "trial2" };
    expect((await harness.call("POST", `${TABLE}/undrop`, { body })).status).toBe(200);
  });

  test("T29 lists what is dropped", async () => {
    harness.fakes.catalog.listDroppedTables = () => ({
      tables: [
        aTable({
          state: TableState.DROPPED,
          droppedAt: at("2026-11-30T12:00:00Z"),
          dropReason: "retention",
          undoUntil: at("2026-12-07T12:00:00Z"),
        }),
      ],
      nextCursor: "next",
    });
    const { json } = await harness.call("GET", "/api/v1/environments/dev/dropped-tables");
    expect(json).toMatchObject({ items: [{ drop_reason: "retention" }], next_cursor: "next" });
  });

  test("T29 lists the generations of one name, whose namespace may have dots", async () => {
    harness.fakes.catalog.listDroppedTables = ({ namespace, name, limit, cursor }) => {
      expect({ namespace, name, limit, cursor }).toEqual({
        namespace: "bronze.raw",
        name: "trial",
        limit: 2,
        cursor: "c",
      });
      return {};
    };
    const dropped = "/api/v1/environments/dev/dropped-tables";
    const found = await harness.call("GET", `${dropped}?name=bronze.raw.trial&limit=2&cursor=c`);
    expect(found.status).toBe(200);
    const bad = await harness.call("GET", `${dropped}?name=trial`);
    expect({ status: bad.status, pointer: bad.json.errors[0]?.pointer }).toEqual({
      status: 400,
      pointer: "#/name",
    });
  });

  test("a commit hands its files on and answers with the snapshot", async () => {
    harness.fakes.catalog.commitTable = (request) => {
      expect(request).toMatchObject({
        operation: CommitOperation.REPLACE,
        files: [{ path: "data/a.parquet", byteSize: 2048n, rowCount: 100n }],
        expectedChangeVersion: 7n,
        holdId: OTHER_ID,
      });
      return { table: aTable({ changeVersion: 8n }), snapshotId: OTHER_ID };
    };
    const { json } = await harness.call("POST", `/api/v1/tables/${TABLE_ID}/commits`, {
      body: {
        operation: "replace",
        files: [{ path: "data/a.parquet", byte_size: 2048, row_count: 100 }],
        expected_version: 7,
        hold_id: OTHER_ID,
      },
    });
    expect(json).toMatchObject({ version: 8, snapshot_id: OTHER_ID });
  });

  test("a commit of ten thousand files fits, however long their paths", async () => {
    harness.fakes.catalog.commitTable = ({ files }) => ({
      table: aTable({ fileCount: files.length }),
    });
    const files = Array.from({ length: 10_000 }, (_, index) => ({
      path: `data/${"x".repeat(200)}-${index}.parquet`,
      byte_size: 1,
      row_count: 1,
    }));
    const { status, json } = await harness.call("POST", `/api/v1/tables/${TABLE_ID}/commits`, {
      body: { operation: "append", files },
    });
    expect({ status, count: json.file_count }).toEqual({ status: 200, count: 10_000 });
  });

  test("a commit counts in whole numbers", async () => {
    const file = { path: "a", byte_size: 2 ** 53, row_count: -1 };
    const { json } = await harness.call("POST", `${TABLE}/commits`, {
      body: { operation: "append", files: [file, { ...file, byte_size: 1.5, row_count: "1" }] },
    });
    expect(json.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      "#/files/0/byte_size",
      "#/files/0/row_count",
      "#/files/1/byte_size",
      "#/files/1/row_count",
    ]);
  });

  test("T21 takes, renews and releases a hold", async () => {
    const hold = {
      holdId: OTHER_ID,
      tableId: TABLE_ID,
      kind: "write",
      holder: "ana@example.org",
      createdAt: at("2026-11-30T12:00:00Z"),
      expiresAt: at("2026-11-30T13:00:00Z"),
    };
    harness.fakes.catalog.createHold = ({ kind }) => ({ hold: { ...hold, kind } });
    harness.fakes.catalog.renewHold = () => ({ hold });
    harness.fakes.catalog.releaseHold = () => ({});
    const taken = await harness.call("POST", `${TABLE}/holds`);
    expect(taken.status).toBe(201);
    expect(taken.json).toEqual({
      id: OTHER_ID,
      table_id: TABLE_ID,
      kind: "write",
      holder: "ana@example.org",
      created_at: "2026-11-30T12:00:00.000Z",
      expires_at: "2026-11-30T13:00:00.000Z",
    });
    const task = await harness.call("POST", `/api/v1/tables/${TABLE_ID}/holds`, {
      body: { kind: "pipeline_task" },
    });
    expect(task.json.kind).toBe("pipeline_task");
    expect((await harness.call("PUT", `/api/v1/holds/${OTHER_ID}`)).json.id).toBe(OTHER_ID);
    harness.fakes.catalog.listHolds = ({ table }) => {
      expect(table?.ref.case).toBe("name");
      return { holds: [hold] };
    };
    const list = await harness.call("GET", `${TABLE}/holds`);
    expect(list.json).toEqual({ items: [taken.json], next_cursor: null });
    const released = await harness.call("DELETE", `/api/v1/holds/${OTHER_ID}`);
    expect({ status: released.status, text: released.text }).toEqual({ status: 204, text: "" });
  });
});

describe("what a table holds", () => {
  test("its files, with addresses", async () => {
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    harness.fakes.catalog.listTableFiles = () => ({
      table: aTable(),
      snapshotId: OTHER_ID,
      files: [{ path: "data/a.parquet", uri: "file:///x/a.parquet", byteSize: 1n, rowCount: 2n }],
    });
    const { json } = await harness.call("GET", `${TABLE}/files`);
    expect(json).toMatchObject({ next_cursor: null, row_filters: [], column_masks: [] });
    expect(json).toMatchObject({
      snapshot_id: OTHER_ID,
      files: [{ path: "data/a.parquet", uri: "file:///x/a.parquet", byte_size: 1, row_count: 2 }],
      table: { id: TABLE_ID },
    });
  });

  test("its files page by page, of one snapshot, with what the reader must apply", async () => {
    harness.fakes.evaluator.batchGetTableExpiry = () => ({ expiries: [anExpiry()] });
    const asked: unknown[] = [];
    harness.fakes.catalog.listTableFiles = ({ limit, cursor, appliesPolicies }) => {
      asked.push([limit, cursor, appliesPolicies]);
      return {
        table: aTable(),
        snapshotId: OTHER_ID,
        nextCursor: "n",
        rowFilters: [{ column: "country", operator: "in", values: ["DE", "FR"] }],
        columnMasks: [{ column: "email", mask: "hash" }],
      };
    };
    const { json } = await harness.call("GET", `${TABLE}/files`);
    await harness.call("GET", `${TABLE}/files?limit=10000&cursor=n&applies_policies=true`);
    await harness.call("GET", `/api/v1/tables/${TABLE_ID}/files?applies_policies=false`);
    expect(json).toMatchObject({
      next_cursor: "n",
      row_filters: [{ column: "country", operator: "in", values: ["DE", "FR"] }],
      column_masks: [{ column: "email", mask: "hash" }],
    });
    expect(asked).toEqual([
      [1_000, "", false],
      [10_000, "n", true],
      [1_000, "", false],
    ]);
  });

  test("a page of files after a commit is a conflict", async () => {
    harness.fakes.catalog.listTableFiles = () => {
      throw conflict("SNAPSHOT_CHANGED", "a commit changed the files; begin again");
    };
    const { status, json } = await harness.call("GET", `${TABLE}/files?cursor=n`);
    expect({ status, code: json.code }).toEqual({ status: 409, code: "SNAPSHOT_CHANGED" });
  });

  test.each([
    ["limit=0", "#/limit"],
    ["limit=10001", "#/limit"],
    ["applies_policies=1", "#/applies_policies"],
    ["snapshot=1", "#/snapshot"],
  ])("T10 its files for ?%s are refused", async (query, pointer) => {
    const { status, json } = await harness.call("GET", `${TABLE}/files?${query}`);
    expect({ status, pointer: json.errors[0]?.pointer }).toEqual({ status: 400, pointer });
  });

  test("T17 T18 its reads per day, and who has reported any", async () => {
    harness.fakes.catalog.getTable = () => ({ table: aTable() });
    harness.fakes.evaluator.getTableReads = ({ tableId }) => {
      expect(tableId).toBe(TABLE_ID);
      return {
        days: [{ day: "2026-11-30", source: "trino", reads: 12n }],
        sources: [{ source: "trino", lastReportedAt: at("2026-11-30T12:00:00Z") }],
      };
    };
    const { json } = await harness.call("GET", `${TABLE}/reads`);
    expect(json).toEqual({
      days: [{ day: "2026-11-30", source: "trino", reads: 12 }],
      sources: [{ source: "trino", last_reported_at: "2026-11-30T12:00:00.000Z" }],
    });
  });
});
