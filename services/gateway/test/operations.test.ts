import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { internal, type ParkedMessage, unavailable } from "@lapse/kit";
import { type Harness, startHarness } from "./harness.ts";
import { aHold, aSweep, at } from "./messages.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness.stop());

const answering = ({ fakes }: Harness) => {
  fakes.evaluator.listSweepHolds = () => ({ holds: [aHold()] });
  fakes.catalog.getPurgeStatus = () => ({
    waiting: 3n,
    clockHold: {
      raisedAt: at("2026-11-30T12:00:00Z"),
      lastSeenAt: at("2026-11-30T11:59:00Z"),
      now: at("2026-12-30T12:00:00Z"),
    },
  });
  fakes.outbox.getOutboxHead = () => ({ unsent: 2n, oldestUnsentAt: at("2026-11-30T11:00:00Z") });
  fakes.evaluator.getEvaluatorStatus = () => ({
    folds: [
      {
        stream: "ACTIVITY",
        foldedSequence: 10n,
        lastSequence: 12n,
        brokerReachable: true,
        missing: 1n,
      },
    ],
    sweepsPaused: true,
    pausedBy: "ana@example.org",
    sweepIntervalSeconds: 3600,
    nextSweepAt: at("2026-11-30T13:00:00Z"),
    lastSweep: aSweep(),
    scheduler: "evaluator-1",
  });
};

describe("GET /status", () => {
  test("shows services, folds, sweeps and outboxes", async () => {
    answering(harness);
    const { status, json } = await harness.call("GET", "/api/v1/status", { token: "rita" });
    expect(status).toBe(200);
    expect(json.services).toEqual(
      ["catalog", "retention-policy", "lifecycle-evaluator", "audit", "nats"].map((name) => ({
        name,
        ok: true,
        detail: expect.any(String),
      })),
    );
    expect(json.evaluator).toMatchObject({
      folds: [{ stream: "ACTIVITY", folded: 10, last: 12, broker_reachable: true, missing: 1 }],
      sweeps: {
        paused: true,
        paused_by: "ana@example.org",
        pause_reason: null,
        interval_seconds: 3600,
        next_at: "2026-11-30T13:00:00.000Z",
        last: { status: "completed" },
        scheduler: "evaluator-1",
      },
    });
    expect(json.outboxes).toContainEqual({
      service: "catalog",
      unsent: 2,
      oldest_unsent_at: "2026-11-30T11:00:00.000Z",
    });
    expect(json.outboxes).toHaveLength(4);
  });

  test("T26 shows what waits for a confirmation: sweeps, and the purge", async () => {
    answering(harness);
    const { json } = await harness.call("GET", "/api/v1/status");
    expect(json.evaluator).toMatchObject({
      sweeps: { holds: [{ kind: "breaker", environment: "dev", confirmed_by: null }] },
    });
    expect(json.purges).toEqual({
      waiting: 3,
      clock_hold: {
        raised_at: "2026-11-30T12:00:00.000Z",
        last_seen_at: "2026-11-30T11:59:00.000Z",
        now: "2026-12-30T12:00:00.000Z",
        confirmed_by: null,
      },
    });
  });

  test("asks for the caller what is the tenant's, and for itself what is the system's", async () => {
    answering(harness);
    await harness.call("GET", "/api/v1/status");
    const asked = harness.calls.map(({ principal, method }) => [
      method.split("/")[1],
      principal.subject,
    ]);
    expect(asked.sort()).toEqual([
      ["GetEvaluatorStatus", "ana@example.org"],
      ...Array(4).fill(["GetOutboxHead", "gateway"]),
      ["GetPurgeStatus", "ana@example.org"],
      ["ListSweepHolds", "ana@example.org"],
    ]);
  });

  test("asks for nothing that would be refused: a look at the status is no refusal to record", async () => {
    answering(harness);
    const asReader = await harness.call("GET", "/api/v1/status", { token: "rita" });
    expect(asReader.json.purges).toBeNull();
    expect(asReader.json.evaluator).not.toBeNull();
    harness.calls.length = 0;
    const { status, json } = await harness.call("GET", "/api/v1/status", { token: "nora" });
    expect({ status, evaluator: json.evaluator, purges: json.purges }).toEqual({
      status: 200,
      evaluator: null,
      purges: null,
    });
    expect(json.services.map(({ ok }) => ok)).toEqual(Array(5).fill(true));
    expect(new Set(harness.calls.map(({ principal }) => principal.subject))).toEqual(
      new Set(["gateway"]),
    );
  });

  test("says what is wrong with each, and answers all the same", async () => {
    answering(harness);
    harness.broker.connected = false;
    harness.fakes.evaluator.getEvaluatorStatus = () => {
      throw unavailable("DATABASE_UNAVAILABLE", "the database cannot be reached");
    };
    harness.fakes.outbox.getOutboxHead = () => {
      throw internal(new Error("secret"));
    };
    const { status, json, text } = await harness.call("GET", "/api/v1/status");
    expect(status).toBe(200);
    expect(json.evaluator).toBeNull();
    expect(json.outboxes).toEqual([]);
    expect(json.services.map(({ ok }: { ok: boolean }) => ok)).toEqual(Array(5).fill(false));
    expect(text).not.toContain("secret");
  });
});

describe("GET /status with a service that is not there", () => {
  let other: Harness;
  beforeEach(async () => {
    other = await startHarness();
    answering(other);
    await Promise.all([other.servers.audit.stop(), other.servers.evaluator.stop()]);
  });
  afterEach(() => other.stop());

  test("answers in time, naming it", async () => {
    const startedAt = performance.now();
    const { json } = await other.call("GET", "/api/v1/status");
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    const away = json.services.filter(({ ok }: { ok: boolean }) => !ok);
    expect(away.map(({ name }: { name: string }) => name)).toEqual([
      "lifecycle-evaluator",
      "audit",
    ]);
    expect(away[0]?.detail).toMatch(/^lifecycle-evaluator does not answer/);
    expect(json.evaluator).toBeNull();
    expect(json.outboxes.map(({ service }: { service: string }) => service)).toEqual([
      "catalog",
      "retention-policy",
    ]);
  }, 20_000);
});

const PARKED: ParkedMessage = {
  sequence: 17n,
  parkedAt: new Date("2026-11-30T12:00:00.000Z"),
  reason: "EVENT_UNREADABLE: no ActivityBatch",
  consumer: "evaluator-activity",
  stream: "ACTIVITY",
  subject: "activity.table.read",
  streamSequence: 5n,
  deliveries: 1,
  headers: {},
  body: new Uint8Array(),
};

describe("/parked", () => {
  test("lists what was set aside, page by page", async () => {
    harness.broker.parked = { items: [PARKED], next: 17n };
    const { json } = await harness.call("GET", "/api/v1/parked?stream=ACTIVITY&limit=1&cursor=3", {
      token: "root",
    });
    expect(json).toEqual({
      items: [
        {
          id: "17",
          stream: "ACTIVITY",
          subject: "activity.table.read",
          reason: "EVENT_UNREADABLE: no ActivityBatch",
          consumer: "evaluator-activity",
          deliveries: 1,
          parked_at: "2026-11-30T12:00:00.000Z",
        },
      ],
      next_cursor: "17",
    });
    expect(harness.broker.asked).toEqual([{ stream: "ACTIVITY", limit: 1, after: 3n }]);
  });

  test("retries and discards by id, saying who and why", async () => {
    harness.broker.parked = { items: [PARKED], next: undefined };
    const retried = await harness.call("POST", "/api/v1/parked/17/retry", {
      token: "root",
      body: {},
    });
    const discarded = await harness.call("DELETE", "/api/v1/parked/17?reason=junk", {
      token: "root",
    });
    expect([retried.status, discarded.status]).toEqual([204, 204]);
    expect(harness.broker.asked).toEqual([
      ["retry", 17n],
      ["discard", 17n, "root@example.org", "junk"],
    ]);
  });

  test("is for superadmins only, since the messages are of all tenants; a refusal is recorded", async () => {
    const recorded: unknown[] = [];
    harness.fakes.access.recordRefusal = ({ right, resourceKind, resourceId, method }) => {
      recorded.push([right, resourceKind, resourceId, method]);
      return {};
    };
    const paths = [
      ["GET", "/api/v1/parked"],
      ["POST", "/api/v1/parked/17/retry"],
      ["DELETE", "/api/v1/parked/17"],
    ] as const;
    for (const [method, path] of paths) {
      const { status, json } = await harness.call(method, path, { token: "ana" });
      expect({ status, code: json.code }).toEqual({ status: 403, code: "RIGHT_MISSING" });
    }
    expect(harness.broker.asked).toEqual([]);
    expect(recorded).toEqual([
      ["parked.manage", "parked", "", "GET /api/v1/parked"],
      ["parked.manage", "parked", "17", "POST /api/v1/parked/:id/retry"],
      ["parked.manage", "parked", "17", "DELETE /api/v1/parked/:id"],
    ]);
  });

  test.each([
    ["GET", "/api/v1/parked?cursor=x", "#/cursor"],
    ["GET", "/api/v1/parked?stream=parked.%3E", "#/stream"],
    ["POST", "/api/v1/parked/0/retry", "#/id"],
    ["DELETE", "/api/v1/parked/17n", "#/id"],
  ] as const)("refuses %s %s", async (method, path, pointer) => {
    const { status, json } = await harness.call(method, path, { token: "root" });
    expect(status).toBe(400);
    expect(json.errors[0]?.pointer).toBe(pointer);
  });
});
