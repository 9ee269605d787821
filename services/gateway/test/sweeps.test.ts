import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { denied, notFound, unavailable } from "@lapse/kit";
import { type Harness, startHarness } from "./harness.ts";
import {
  aHold,
  anEnvironment,
  anExpiry,
  aSweep,
  at,
  ENVIRONMENT_ID,
  OTHER_ID,
  TABLE_ID,
} from "./messages.ts";

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
  held_environments: ["scratch"],
  capped: false,
};

const HELD = {
  id: OTHER_ID,
  kind: "breaker",
  environment: "dev",
  raised_at: "2026-11-30T12:00:00.000Z",
  due: 15,
  tables: 20,
  share: 0.5,
  last_seen_at: null,
  now: null,
  confirmed_by: null,
  confirmed_at: null,
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
  expect({ status, json }).toEqual({
    status: 200,
    json: { sweep: SHOWN, would_drop: null, held: null },
  });
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
  expect(some.json).toMatchObject({ held: [] });
  harness.fakes.evaluator.runSweep = () => ({ held: [aHold(), aHold({ holdId: "" })] });
  const held = await harness.call("POST", "/api/v1/sweeps", { body: { dry_run: true } });
  // A hold that a dry run would raise has no id: it raises none.
  expect(held.json).toEqual({ sweep: null, would_drop: [], held: [HELD, { ...HELD, id: null }] });
  harness.fakes.evaluator.runSweep = () => ({});
  const none = await harness.call("POST", "/api/v1/sweeps", { body: { dry_run: true } });
  expect(none.json).toEqual({ sweep: null, would_drop: [], held: [] });
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

describe("what a guard holds back (T26)", () => {
  const CLOCK = aHold({
    holdId: TABLE_ID,
    kind: "clock",
    environmentId: "",
    environment: "",
    due: 0,
    tables: 0,
    share: 0,
    lastSeenAt: at("2026-11-30T11:59:00.000Z"),
    now: at("2026-12-30T12:00:00.000Z"),
  });
  const confirm = (body: unknown, headers = {}) =>
    harness.call("POST", "/api/v1/sweeps/confirm", { body, headers });
  const methods = () => harness.calls.map(({ method }) => method.split("/")[1]);

  /** Confirms what is asked for, and lists what was not. */
  const holding = (...holds: ReturnType<typeof aHold>[]) => {
    const open = [...holds];
    harness.fakes.evaluator.listSweepHolds = ({ all, cursor }) => {
      expect(all).toBe(false);
      const at = Number(cursor || 0);
      const next = at + 1 < open.length ? String(at + 1) : "";
      return { holds: open.slice(at, at + 1), nextCursor: next };
    };
    harness.fakes.evaluator.confirmSweepHold = ({ holdId }, { principal }) => {
      const index = open.findIndex((hold) => hold.holdId === holdId);
      const [hold] = index < 0 ? [] : open.splice(index, 1);
      if (!hold) throw notFound("SWEEP_HOLD_NOT_FOUND", "there is no such hold");
      return {
        hold: { ...hold, confirmedBy: principal.subject, confirmedAt: at("2026-11-30T13:00:00Z") },
      };
    };
    harness.fakes.catalog.getEnvironment = () => ({ environment: anEnvironment() });
    harness.fakes.catalog.getPurgeStatus = () => ({});
  };

  test("T26 is listed, the clock with what it said, the breaker with what it counted", async () => {
    harness.fakes.evaluator.listSweepHolds = ({ all, limit, cursor }) => {
      expect({ all, limit, cursor }).toEqual({ all: true, limit: 2, cursor: "c" });
      return { holds: [aHold(), CLOCK], nextCursor: "d" };
    };
    const { json } = await harness.call("GET", "/api/v1/sweeps/holds?all=true&limit=2&cursor=c");
    expect(json).toEqual({
      items: [
        HELD,
        {
          ...HELD,
          id: TABLE_ID,
          kind: "clock",
          environment: null,
          due: null,
          tables: null,
          share: null,
          last_seen_at: "2026-11-30T11:59:00.000Z",
          now: "2026-12-30T12:00:00.000Z",
        },
      ],
      next_cursor: "d",
    });
  });

  test.each(["yes", "1", ""])("T10 is not listed for all=%s", async (all) => {
    const { status, json } = await harness.call("GET", `/api/v1/sweeps/holds?all=${all}`);
    expect({ status, errors: json.errors }).toEqual({
      status: 400,
      errors: [{ pointer: "#/all", detail: "query parameter: give true or false" }],
    });
  });

  test("T26 one hold is confirmed by its id, with the key of the call", async () => {
    holding(aHold());
    const { status, json } = await confirm({ hold_id: OTHER_ID }, { "idempotency-key": "k" });
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        holds: [
          {
            ...HELD,
            confirmed_by: "ana@example.org",
            confirmed_at: "2026-11-30T13:00:00.000Z",
          },
        ],
        purges: false,
      },
    });
    expect(harness.calls[0]?.idempotencyKey).toBe("k");
    expect((await confirm({ hold_id: OTHER_ID })).json.code).toBe("SWEEP_HOLD_NOT_FOUND");
  });

  test("T26 that of an environment is confirmed by its name, and no other", async () => {
    holding(CLOCK, aHold({ holdId: ENVIRONMENT_ID, environmentId: TABLE_ID }), aHold());
    const first = await confirm({ environment: "dev" }, { "idempotency-key": "k" });
    expect(first.json.holds).toMatchObject([{ id: OTHER_ID, environment: "dev" }]);
    const again = await confirm({ environment: "dev" }, { "idempotency-key": "k" });
    expect(again.json).toEqual({ holds: [], purges: false });
  });

  test("T26 the clock is confirmed for sweeps and for purges", async () => {
    holding(aHold(), CLOCK);
    const jumped = { raisedAt: at("2026-11-30T12:00:00Z") };
    harness.fakes.catalog.getPurgeStatus = () => ({ clockHold: jumped });
    harness.fakes.catalog.confirmPurgeClock = () => ({});
    const { json } = await confirm({ clock: true });
    expect(json).toMatchObject({ holds: [{ id: TABLE_ID, kind: "clock" }], purges: true });
    expect(methods().at(-1)).toBe("ConfirmPurgeClock");
  });

  test("T26 a clock that is confirmed for purges already is not confirmed again", async () => {
    holding();
    harness.fakes.catalog.getPurgeStatus = () => ({ clockHold: { confirmedBy: "root" } });
    expect((await confirm({ clock: true })).json).toEqual({ holds: [], purges: false });
    expect(methods()).not.toContain("ConfirmPurgeClock");
  });

  test("T26 what failed half-way is finished by a repeat", async () => {
    holding(CLOCK);
    harness.fakes.catalog.getPurgeStatus = () => {
      throw unavailable("DATABASE_UNAVAILABLE", "away");
    };
    expect((await confirm({ clock: true })).status).toBe(503);
    harness.fakes.catalog.getPurgeStatus = () => ({ clockHold: {} });
    harness.fakes.catalog.confirmPurgeClock = () => ({});
    expect((await confirm({ clock: true })).json).toEqual({ holds: [], purges: true });
  });

  test("T6 who may not is refused before anything is looked at, also where nothing is held", async () => {
    const recorded: string[] = [];
    harness.fakes.access.getTenantRights = () => ({ rights: ["audit.read", "table.read"] });
    harness.fakes.access.recordRefusal = ({ right, resourceKind, method }) => {
      recorded.push(`${right} on ${resourceKind} by ${method}`);
      return {};
    };
    for (const body of [{ clock: true }, { environment: "dev" }]) {
      const { status, json } = await harness.call("POST", "/api/v1/sweeps/confirm", {
        body,
        token: "rita",
      });
      expect({ status, code: json.code }).toEqual({ status: 403, code: "RIGHT_MISSING" });
    }
    const [asked, refused] = ["GetTenantRights", "RecordRefusal"];
    expect(methods()).toEqual([asked, refused, asked, refused]);
    expect(recorded).toEqual(
      Array(2).fill("sweep.manage on evaluator by POST /api/v1/sweeps/confirm"),
    );
  });

  test("T6 a role that is bound in the tenant is enough, and an admin's token needs no asking", async () => {
    const who: string[] = [];
    harness.fakes.access.getTenantRights = (_request, { principal }) => {
      who.push(principal.subject);
      return { rights: ["sweep.manage"] };
    };
    for (const token of ["rita", undefined]) {
      holding(CLOCK);
      const { json } = await harness.call("POST", "/api/v1/sweeps/confirm", {
        body: { clock: true },
        ...(token !== undefined && { token }),
      });
      expect(json).toMatchObject({ holds: [{ id: TABLE_ID }], purges: false });
    }
    expect(who).toEqual(["rita@example.org"]);
  });

  test("T6 while the catalog cannot say, nobody is refused and nothing is confirmed", async () => {
    holding(CLOCK);
    harness.fakes.access.getTenantRights = () => {
      throw unavailable("DATABASE_UNAVAILABLE", "away");
    };
    const { status } = await harness.call("POST", "/api/v1/sweeps/confirm", {
      body: { clock: true },
      token: "rita",
    });
    expect({ status, methods: methods() }).toEqual({ status: 503, methods: ["GetTenantRights"] });
  });

  test("T6 a refusal of the evaluator ends it, before purges are confirmed", async () => {
    holding(CLOCK);
    harness.fakes.evaluator.confirmSweepHold = () => {
      throw denied("RIGHT_MISSING", "ana lacks the right sweep.manage");
    };
    expect((await confirm({ clock: true })).status).toBe(403);
    expect(methods()).not.toContain("ConfirmPurgeClock");
  });

  test.each([
    [{}, "#", "not none"],
    [{ environment: "dev", clock: true }, "#", "not environment and clock"],
    [{ clock: false }, "#/clock", "only true"],
    [{ hold_id: "1" }, "#/hold_id", "UUID"],
    [{ all: true }, "#/all", "not known"],
  ])("T10 %j confirms nothing", async (body, pointer, words) => {
    const { status, json } = await confirm(body);
    expect(status).toBe(400);
    expect(json.errors).toContainEqual({ pointer, detail: expect.stringContaining(words) });
    expect(harness.calls).toHaveLength(0);
  });
});
