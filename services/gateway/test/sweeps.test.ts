import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { denied } from "@lapse/kit";
import { type Harness, startHarness } from "./harness.ts";
import { anExpiry, aSweep, at, OTHER_ID, TABLE_ID } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const SHOWN = {
  id: OTHER_ID,
  status: "completed",
  requested_by: "ana@example.org",
  started_at: "2026-11-30T12:00:00.000Z",
  finished_at: "2026-11-30T12:00:01.000Z",
  fence: { ACTIVITY: 12 },
  due: 3,
  dropped: 2,
  kept: { held: 1 },
  failed: 0,
  held_reason: null,
  capped: false,
};

test("T25 POST /sweeps runs one and waits as long as asked", async () => {
  harness.fakes.evaluator.runSweep = ({ dryRun, waitSeconds }, { deadline }) => {
    expect({ dryRun, waitSeconds }).toEqual({ dryRun: false, waitSeconds: 100 });
    expect(deadline?.getTime()).toBeGreaterThan(Date.now() + 100_000);
    return { sweep: aSweep() };
  };
  const { status, json } = await harness.call("POST", "/api/v1/sweeps", {
    body: { wait_seconds: 100 },
  });
  expect({ status, json }).toEqual({ status: 200, json: { sweep: SHOWN, would_drop: null } });
});

test("T25 a dry run lists what it would drop, also when that is nothing", async () => {
  harness.fakes.evaluator.runSweep = ({ dryRun }) => {
    expect(dryRun).toBe(true);
    return { wouldDrop: [{ expiry: anExpiry(), environment: "dev", tenant: "local" }] };
  };
  const some = await harness.call("POST", "/api/v1/sweeps", { body: { dry_run: true } });
  expect(some.json).toMatchObject({
    sweep: null,
    would_drop: [{ id: TABLE_ID, full_name: "bronze.trial", environment: "dev", days: 30 }],
  });
  harness.fakes.evaluator.runSweep = () => ({});
  const none = await harness.call("POST", "/api/v1/sweeps", { body: { dry_run: true } });
  expect(none.json).toEqual({ sweep: null, would_drop: [] });
});

test("T25 needs no body to run one", async () => {
  harness.fakes.evaluator.runSweep = () => ({ sweep: aSweep() });
  expect((await harness.call("POST", "/api/v1/sweeps")).status).toBe(200);
});

test.each([
  [{ wait_seconds: 121 }, "#/wait_seconds"],
  [{ wait_seconds: -1 }, "#/wait_seconds"],
  [{ dry_run: "yes" }, "#/dry_run"],
  [{ dry: true }, "#/dry"],
])("T10 refuses %j", async (body, pointer) => {
  const { status, json } = await harness.call("POST", "/api/v1/sweeps", { body });
  expect(status).toBe(400);
  expect(json.errors[0]?.pointer).toBe(pointer);
});

test("T25 lists sweeps, and shows one with what became of each table", async () => {
  harness.fakes.evaluator.listSweeps = ({ limit, cursor }) => {
    expect({ limit, cursor }).toEqual({ limit: 100, cursor: "" });
    return { sweeps: [aSweep({ requestedBy: "", heldReason: "paused" })], nextCursor: "n" };
  };
  const list = await harness.call("GET", "/api/v1/sweeps");
  expect(list.json).toEqual({
    items: [{ ...SHOWN, requested_by: null, held_reason: "paused" }],
    next_cursor: "n",
  });
  harness.fakes.evaluator.getSweep = ({ sweepId }) => {
    expect(sweepId).toBe(OTHER_ID);
    return {
      sweep: aSweep(),
      outcomes: [
        {
          tableId: TABLE_ID,
          name: "bronze.trial",
          outcome: "issued",
          issuedAt: at("2026-11-30T12:00:00Z"),
        },
      ],
    };
  };
  const one = await harness.call("GET", `/api/v1/sweeps/${OTHER_ID}`);
  expect(one.json).toEqual({
    ...SHOWN,
    outcomes: [
      {
        table_id: TABLE_ID,
        name: "bronze.trial",
        outcome: "issued",
        reason: null,
        issued_at: "2026-11-30T12:00:00.000Z",
        answered_at: null,
      },
    ],
  });
});

test("T25 pauses with a reason and resumes", async () => {
  const reasons: string[] = [];
  harness.fakes.evaluator.pauseSweeps = ({ reason }) => {
    reasons.push(reason);
    return {};
  };
  harness.fakes.evaluator.resumeSweeps = () => ({});
  const paused = await harness.call("POST", "/api/v1/sweeps/pause", { body: { reason: "moving" } });
  expect({ status: paused.status, text: paused.text }).toEqual({ status: 204, text: "" });
  expect((await harness.call("POST", "/api/v1/sweeps/pause")).status).toBe(204);
  expect((await harness.call("POST", "/api/v1/sweeps/resume", { body: {} })).status).toBe(204);
  expect((await harness.call("POST", "/api/v1/sweeps/resume")).status).toBe(204);
  expect((await harness.call("POST", "/api/v1/sweeps/resume", { body: { now: 1 } })).status).toBe(
    400,
  );
  expect(reasons).toEqual(["moving", ""]);
});

test("a refusal of the evaluator is the answer", async () => {
  harness.fakes.evaluator.pauseSweeps = () => {
    throw denied("RIGHT_MISSING", "rita lacks the right sweep.manage");
  };
  const { status } = await harness.call("POST", "/api/v1/sweeps/pause", { token: "rita" });
  expect(status).toBe(403);
});
