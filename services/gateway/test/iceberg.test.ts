import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { denied, notFound, unavailable } from "@lapse/kit";
import { ActivityBatchSchema } from "@lapse/proto/events";
import { type Harness, startHarness } from "./harness.ts";
import { aTable, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => {
  harness.reset();
  harness.fakes.catalog.batchGetTables = () => ({ tables: [{ index: 0, table: aTable() }] });
});
afterAll(() => harness.stop());

const PATH = "/v1/dev/namespaces/bronze/tables/trial/metrics";

const report = (body: unknown, options: { path?: string; token?: string | null } = {}) =>
  harness.call("POST", options.path ?? PATH, { body, token: options.token ?? "ana" });

const published = () =>
  harness.broker.published.map(({ subject, body }) => ({
    subject,
    events: fromBinary(ActivityBatchSchema, body).events,
  }));

/** As Iceberg's Java library sends it; the ids are beyond what JavaScript's numbers hold. */
const SCAN = `{"report-type":"scan-report","table-name":"prod.bronze.trial","snapshot-id":9007199254740993,
  "filter":{"type":"eq","term":"a","value":1},"schema-id":4,"projected-field-ids":[1,2],
  "projected-field-names":["a","b"],"metrics":{
    "total-planning-duration":{"count":1,"time-unit":"nanoseconds","total-duration":2644235116},
    "result-data-files":{"unit":"count","value":1},"dvs":{"unit":"count","value":0},
    "made-up":{"unit":"parsec","value":9223372036854775807}},
  "metadata":{"engine-name":"spark","engine-version":"3.5.1","iceberg-version":"Apache Iceberg 1.6.0"}}`;
const COMMIT = {
  "report-type": "commit-report",
  "table-name": "bronze.trial",
  "snapshot-id": 1,
  "sequence-number": 2,
  operation: "append",
  metrics: {},
};

describe("an Iceberg metrics report (T16)", () => {
  test("T16 of a scan is a read of the table in the path, by who is authenticated, from its engine", async () => {
    const { status, text } = await report(SCAN);
    expect({ status, text }).toEqual({ status: 204, text: "" });
    expect(harness.calls[0]?.principal.subject).toBe("ana@example.org");
    const [message] = published();
    expect(message).toMatchObject({
      subject: "activity.table.read",
      events: [{ tableId: TABLE_ID, actor: "ana@example.org", source: "iceberg:spark" }],
    });
    expect(message?.events[0]?.occurredAt).toBeUndefined();
  });

  test.each([
    ["append", "written"],
    ["overwrite", "written"],
    ["delete", "written"],
    ["replace", "maintained"],
    ["REPLACE", "maintained"],
    ["made-up", "written"],
    [undefined, "written"],
    [{ toString: 1 }, "written"],
  ])("T16 of a commit with the operation %j is %s", async (operation, kind) => {
    expect((await report({ ...COMMIT, operation })).status).toBe(204);
    expect(published()).toMatchObject([{ subject: `activity.table.${kind}` }]);
  });

  test.each(["SCAN_REPORT", "Scan-Report"])(
    "T16 is known by its type as Iceberg writes it anywhere: %s",
    async (type) => {
      await report({ "report-type": type });
      expect(published()).toMatchObject([{ subject: "activity.table.read" }]);
    },
  );

  test("T16 of a type that is not known is taken, logged and counted, and is no activity", async () => {
    expect((await report({ "report-type": "view-report" })).status).toBe(204);
    expect(harness.broker.published).toHaveLength(0);
    expect(harness.logged).toContainEqual(
      expect.objectContaining({
        msg: "an Iceberg report of an unknown type",
        report_type: "view-report",
      }),
    );
    const counted = await harness.metrics.registry.getSingleMetricAsString(
      "lapse_iceberg_reports_total",
    );
    expect(counted).toMatch(/use="none".*\} 1/);
  });

  test("T16 needs none of its numbers, names and lists", async () => {
    const odd = { "report-type": "scan-report", metrics: [1], metadata: "x", filter: null };
    expect((await report(odd)).status).toBe(204);
    expect(published()[0]?.events[0]?.source).toBe("iceberg");
  });

  test.each([
    [{ "engine-name": "Apache Flink" }, "iceberg:apache-flink"],
    [{ "engine-name": "x".repeat(500) }, `iceberg:${"x".repeat(40)}`],
    [{ "engine-name": '../"; drop' }, "iceberg:drop"],
    [{ "engine-name": "…" }, "iceberg"],
    [{ "engine-name": 7 }, "iceberg"],
    [{ "iceberg-version": "Apache Iceberg 1.6.0" }, "iceberg"],
    [null, "iceberg"],
  ])("T16 with the metadata %j names its source %s", async (metadata, source) => {
    await report({ "report-type": "scan-report", metadata });
    expect(published()[0]?.events[0]?.source).toBe(source);
  });

  test.each([
    ["bronze%1Fraw%1Fdeep", "bronze.raw.deep"],
    ["bronze.raw", "bronze.raw"],
    ["bronze", "bronze"],
  ])("T16 finds the namespace %s at %s", async (inPath, namespace) => {
    let asked: unknown;
    harness.fakes.catalog.batchGetTables = ({ tables }) => {
      asked = tables[0]?.ref.value;
      return { tables: [{ index: 0, table: aTable() }] };
    };
    await report(SCAN, { path: `/v1/dev/namespaces/${inPath}/tables/tri%2Fal/metrics` });
    expect(asked).toMatchObject({ environment: "dev", namespace, name: "tri/al" });
  });
});

test("T16 the rest of Iceberg's catalog is not here, and says so", async () => {
  expect((await harness.call("GET", "/v1/config")).json.code).toBe("ROUTE_NOT_FOUND");
  const read = await harness.call("GET", PATH);
  expect({ status: read.status, allow: read.headers.allow }).toEqual({
    status: 405,
    allow: "POST",
  });
});

describe("a refusal of a report is told as Iceberg's clients read it", () => {
  const isError = (
    answer: Awaited<ReturnType<typeof report>>,
    code: number,
    type: string,
    message: unknown = expect.any(String),
  ) => {
    expect(answer.status).toBe(code);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(answer.json).toEqual({ error: { message, type, code } });
    expect(harness.broker.published).toHaveLength(0);
  };

  test.each([[null], ["mallory"]])("T16 401 for the token %j", async (token) => {
    const answer = await harness.call("POST", PATH, { body: SCAN, token });
    isError(answer, 401, "NotAuthorizedException");
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
  });

  test("T16 404 for a table that is not there, whatever the report", async () => {
    harness.fakes.catalog.batchGetTables = () => ({});
    harness.fakes.catalog.getTable = () => {
      throw notFound("TABLE_NOT_FOUND", "there is no table bronze.trial in dev");
    };
    for (const body of [SCAN, COMMIT, { "report-type": "other" }]) {
      const message = "there is no table bronze.trial in dev";
      isError(await report(body), 404, "NoSuchTableException", message);
    }
  });

  test("T6 403 for a commit of who may only read, which is recorded", async () => {
    const recorded: string[] = [];
    harness.fakes.access.recordRefusal = ({ right, method }) => {
      recorded.push(`${right} ${method}`);
      return {};
    };
    isError(await report(COMMIT, { token: "rita" }), 403, "ForbiddenException");
    expect(recorded).toEqual([
      "table.write POST /v1/:prefix/namespaces/:namespace/tables/:table/metrics",
    ]);
    expect((await report(SCAN, { token: "rita" })).status).toBe(204);
  });

  test("T6 403 for who may not know the table", async () => {
    harness.fakes.catalog.batchGetTables = () => ({});
    harness.fakes.catalog.getTable = () => {
      throw denied("RIGHT_MISSING", "rita lacks the right table.read");
    };
    isError(await report(SCAN, { token: "rita" }), 403, "ForbiddenException");
  });

  test.each([
    ["{", /JSON/],
    ["[]", /request is not valid/],
    ["null", /request is not valid/],
    ["{}", /report-type/],
    ['{"report-type":7}', /report-type/],
    ['{"report-type":""}', /report-type/],
    [`{"report-type":"${"x".repeat(201)}"}`, /report-type/],
    ['{"report-type":"scan-report","__proto__":{}}', /JSON/],
  ])("T10 400 for the body %.60j", async (body, message) => {
    isError(await report(body), 400, "BadRequestException", expect.stringMatching(message));
  });

  test("T10 413 for more than 1 MiB, 415 for what is not JSON", async () => {
    const body = JSON.stringify({ ...COMMIT, metadata: { a: "x".repeat(1024 * 1024) } });
    isError(await report(body), 413, "BadRequestException");
    const headers = { "content-type": "application/xml" };
    const other = await harness.call("POST", PATH, { body: "<a/>", headers });
    isError(other, 415, "BadRequestException");
  });

  test("T16 503 while activity cannot be stored, 500 without what went wrong inside", async () => {
    const error = unavailable("NATS_UNAVAILABLE", "NATS cannot be reached");
    harness.broker.failAt = { index: 0, error };
    const away = await report(SCAN);
    isError(away, 503, "ServiceUnavailableException");
    expect(away.headers["retry-after"]).toBe("1");
    harness.fakes.catalog.batchGetTables = () => {
      throw new Error("password=hunter2");
    };
    const failed = await report(SCAN);
    isError(failed, 500, "RESTException");
    expect(failed.text).not.toContain("hunter2");
  });
});
