import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Harness, startHarness } from "./harness.ts";
import { aRecord, OTHER_ID, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

describe("GET /audit (T32)", () => {
  test("shows records as they are in the chain", async () => {
    harness.fakes.audit.listDecisions = () => ({ records: [aRecord(12n)], nextCursor: "c" });
    const { json } = await harness.call("GET", "/api/v1/audit");
    expect(json).toEqual({
      items: [
        {
          id: OTHER_ID,
          seq: 12,
          at: "2026-11-30T12:00:00.000Z",
          type: "TABLE_DROPPED",
          service: "catalog",
          tenant: "local",
          actor: null,
          resource: { kind: "table", id: TABLE_ID, name: "bronze.trial", environment: "dev" },
          outcome: "done",
          reason: "retention",
          details: { days: 30, nested: { a: [1, null, "x"] } },
          run_id: "sweep-1",
          trace_id: null,
          hash: "ab".repeat(32),
        },
      ],
      next_cursor: "c",
    });
  });

  test("hands every filter on", async () => {
    harness.fakes.audit.listDecisions = ({ filter, limit, cursor }) => {
      expect(filter).toMatchObject({
        type: "TABLE_DROPPED",
        resource: "bronze.trial",
        actor: "ana",
        runId: "r",
      });
      expect(filter?.since && timestampDate(filter.since).toISOString()).toBe(
        "2026-11-01T00:00:00.000Z",
      );
      expect(filter?.until && timestampDate(filter.until).toISOString()).toBe(
        "2026-11-30T10:00:00.000Z",
      );
      expect({ limit, cursor }).toEqual({ limit: 7, cursor: "x" });
      return {};
    };
    const query = new URLSearchParams({
      type: "TABLE_DROPPED",
      resource: "bronze.trial",
      actor: "ana",
      run_id: "r",
      since: "2026-11-01T00:00:00Z",
      until: "2026-11-30T12:00:00+02:00",
      limit: "7",
      cursor: "x",
    });
    expect((await harness.call("GET", `/api/v1/audit?${query}`)).status).toBe(200);
  });

  test("T10 says that an instant is wanted where a day is given", async () => {
    const { status, json } = await harness.call("GET", "/api/v1/audit?since=2026-11-01");
    expect(status).toBe(400);
    expect(json.errors).toEqual([
      {
        pointer: "#/since",
        detail:
          "query parameter: 2026-11-01 is a day; give an instant, such as 2026-11-01T00:00:00Z",
      },
    ]);
  });
});

describe("GET /audit/verify", () => {
  test("says that the chain is whole", async () => {
    harness.fakes.audit.verifyChain = () => ({ ok: true, records: 5n, headHash: "ab" });
    const { json } = await harness.call("GET", "/api/v1/audit/verify");
    expect(json).toEqual({
      ok: true,
      records: 5,
      head_hash: "ab",
      broken_at_seq: null,
      fault: null,
      gaps: [],
    });
  });

  test("says where it is broken, and what is missing", async () => {
    harness.fakes.audit.verifyChain = () => ({
      records: 5n,
      brokenAtSeq: 3n,
      fault: "hash differs",
      gaps: [{ source: "lapse.catalog", fromSequence: 2n, toSequence: 4n }],
    });
    const { json } = await harness.call("GET", "/api/v1/audit/verify");
    expect(json).toMatchObject({
      ok: false,
      broken_at_seq: 3,
      fault: "hash differs",
      gaps: [{ source: "lapse.catalog", from: 2, to: 4 }],
    });
  });
});
