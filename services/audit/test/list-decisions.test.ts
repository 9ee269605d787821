import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createGrpcClient, newId, type Role } from "@lapse/kit";
import type { DecisionRecord as RecordMessage } from "@lapse/proto/audit";
import { AccessService } from "@lapse/proto/catalog";
import { DecisionOutcome } from "@lapse/proto/events";
import { freePort } from "@lapse/test-kit";
import { hexOf } from "../src/domain/chain.ts";
import type { Decision } from "../src/domain/decision.ts";
import { catalogPeer } from "../src/peers/catalog.ts";
import { aDecision } from "./lab/a-decision.ts";
import { behindTheBack, SILENT } from "./lab/database.ts";
import { type AuditClient, type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;
let admin: AuditClient;

beforeAll(async () => {
  lab = await openLab("audit-list");
  admin = lab.person("local", "admin");
});
afterAll(() => lab.close());
beforeEach(() => behindTheBack(lab.pool, "truncate decision_record, chain_head"));

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 0, minute));
const idsOf = (records: readonly RecordMessage[]) => records.map(({ decision }) => decision?.id);

/** Reads all pages of `limit`, running `between` after each. */
async function readAll(limit: number, between: () => Promise<unknown> = async () => {}) {
  const records: RecordMessage[] = [];
  let cursor = "";
  do {
    const page = await admin.listDecisions({ limit, cursor });
    expect(page.records.length).toBeLessThanOrEqual(limit);
    records.push(...page.records);
    cursor = page.nextCursor;
    await between();
  } while (cursor !== "");
  return records;
}

describe("ListDecisions", () => {
  test("gives every field of a record, with its place and hash", async () => {
    const decision = aDecision({ actor: "ana", traceId: "4bf92f3577b34da6a3ce929d0e0e4736" });
    const [appended] = await lab.append(decision);
    const { records, nextCursor } = await admin.listDecisions({});
    expect(nextCursor).toBe("");
    expect(records).toMatchObject([
      {
        seq: 1n,
        hash: appended && hexOf(appended.hash),
        decision: {
          id: decision.id,
          type: "TABLE_DROPPED",
          service: "catalog",
          tenant: "local",
          actor: "ana",
          resource: decision.resource,
          outcome: DecisionOutcome.DONE,
          reason: "retention",
          details: decision.details,
          runId: decision.runId,
          traceId: decision.traceId,
        },
      },
    ]);
    const [record] = records;
    expect(record?.decision?.at && timestampDate(record.decision.at)).toEqual(decision.at);
    expect(record?.recordedAt).toBeDefined();
  });

  test("gives the newest decision first, also where one was recorded late", async () => {
    const [first, third, second] = [
      aDecision({ at: at(1), sourceSequence: 1n }),
      aDecision({ at: at(3), sourceSequence: 2n }),
      aDecision({ at: at(2), sourceSequence: 3n }),
    ] as [Decision, Decision, Decision];
    await lab.append(first, third, second);
    const { records } = await admin.listDecisions({});
    expect(idsOf(records)).toEqual([third.id, second.id, first.id]);
  });

  describe("narrowed", () => {
    const table = newId();
    const decisions = [
      aDecision({ at: at(1), actor: "ana", sourceSequence: 1n }),
      aDecision({ at: at(2), type: "TABLE_KEPT", sourceSequence: 2n }),
      aDecision({
        at: at(3),
        runId: "run",
        resource: { kind: "table", id: table, name: "silver.other", environment: "dev" },
        sourceSequence: 3n,
      }),
    ] as const;
    const [byAna, kept, other] = decisions;
    const time = (minute: number) => timestampFromDate(at(minute));

    test.each([
      ["by type", { type: "TABLE_KEPT" }, [kept]],
      ["by actor", { actor: "ana" }, [byAna]],
      ["by run", { runId: "run" }, [other]],
      ["by the resource's id", { resource: table }, [other]],
      ["by the resource's name", { resource: "silver.other" }, [other]],
      ["from an instant on, that included", { since: time(2) }, [other, kept]],
      ["up to an instant, that excluded", { until: time(2) }, [byAna]],
      ["by several at once", { type: "TABLE_DROPPED", since: time(2) }, [other]],
      ["to nothing", { type: "TABLE_KEPT", actor: "ana" }, []],
    ])("%s", async (_how, filter, expected) => {
      await lab.append(...decisions);
      const { records } = await admin.listDecisions({ filter });
      expect(idsOf(records)).toEqual(expected.map(({ id }) => id));
    });

    test("by a name that is also an id, gives both, each once", async () => {
      const resource = { kind: "bucket", id: "logs", name: "logs", environment: "" };
      const named = aDecision({ at: at(1), resource, sourceSequence: 1n });
      const other = { ...resource, id: "other" };
      const alike = aDecision({ at: at(2), resource: other, sourceSequence: 2n });
      await lab.append(named, alike);
      const { records } = await admin.listDecisions({ filter: { resource: "logs" } });
      expect(idsOf(records)).toEqual([alike.id, named.id]);
    });
  });

  test("in pages, gives each record once, though many were decided in the same millisecond", async () => {
    const decisions = Array.from({ length: 25 }, (_, n) =>
      aDecision({ at: at(n % 2), sourceSequence: BigInt(n) }),
    );
    await lab.append(...decisions);
    const records = await readAll(4);
    expect(new Set(idsOf(records))).toEqual(new Set(decisions.map(({ id }) => id)));
    expect(records).toHaveLength(25);
  });

  test("in pages, misses none that was there and repeats none, whatever is appended meanwhile", async () => {
    const decisions = Array.from({ length: 20 }, (_, n) =>
      aDecision({ at: at(2 * n), sourceSequence: BigInt(n) }),
    );
    await lab.append(...decisions);
    let n = 0;
    const records = await readAll(3, async () => {
      n += 1;
      // One newer than all, and one late, somewhere among those read or still to be read.
      await lab.append(
        aDecision({ at: at(100 + n), sourceSequence: BigInt(100 + n) }),
        aDecision({ at: at(5 * n + 1), sourceSequence: BigInt(200 + n) }),
      );
    });
    const ids = idsOf(records);
    expect(new Set(ids).size).toBe(ids.length);
    expect(decisions.filter(({ id }) => !ids.includes(id))).toEqual([]);
  });

  test("a page that is just full has no next one", async () => {
    await lab.append(aDecision({ sourceSequence: 1n }), aDecision({ sourceSequence: 2n }));
    expect((await admin.listDecisions({ limit: 2 })).nextCursor).toBe("");
    expect((await admin.listDecisions({ limit: 1 })).nextCursor).not.toBe("");
  });

  test("gives 100 unless asked otherwise", async () => {
    await lab.append(
      ...Array.from({ length: 101 }, (_, n) => aDecision({ sourceSequence: BigInt(n) })),
    );
    expect((await admin.listDecisions({})).records).toHaveLength(100);
    expect((await admin.listDecisions({ limit: 1_000 })).records).toHaveLength(101);
  });

  test.each([
    ["a limit above 1,000", { limit: 1_001 }, "LIMIT_INVALID"],
    ["a negative limit", { limit: -1 }, "LIMIT_INVALID"],
    ["a cursor that no list gave", { cursor: "cGFnZSAy" }, "CURSOR_INVALID"],
    ["a cursor that is no base64", { cursor: "'; drop table" }, "CURSOR_INVALID"],
    ["NUL in a text", { filter: { actor: "a\u0000" } }, "FILTER_INVALID"],
    ["a text too long for any record", { filter: { actor: "a".repeat(2_049) } }, "FILTER_INVALID"],
    ["a year no calendar has", { filter: { since: { seconds: 10n ** 12n } } }, "FILTER_INVALID"],
  ])("refuses %s", async (_what, request, reason) => {
    await expect(admin.listDecisions(request)).rejects.toMatchObject({ kind: "invalid", reason });
  });

  test("takes what looks like SQL for what it is", async () => {
    const actor = "' or tenant <> '";
    await lab.append(aDecision({ actor }), aDecision({ sourceSequence: 2n }));
    expect((await admin.listDecisions({ filter: { actor } })).records).toHaveLength(1);
  });
});

describe("reading decisions", () => {
  test("a tenant's decisions are for its own admins only", async () => {
    await lab.append(aDecision({ tenant: "local" }), aDecision({ tenant: "other" }));
    const theirs = await lab.person("other", "admin").listDecisions({});
    expect(theirs.records.map(({ decision }) => decision?.tenant)).toEqual(["other"]);
    expect((await lab.person("third", "admin").listDecisions({})).records).toEqual([]);
  });

  test("what concerns no one tenant is for services", async () => {
    await lab.append(aDecision({ tenant: "*" }), aDecision({ tenant: "local" }));
    const service = lab.as({ subject: "gateway", tenant: "*", roles: [], kind: "service" });
    const { records } = await service.listDecisions({});
    expect(records.map(({ decision }) => decision?.tenant)).toEqual(["*"]);
  });

  const CALLS = {
    ListDecisions: (client: AuditClient) => client.listDecisions({}),
    VerifyChain: (client: AuditClient) => client.verifyChain({}),
    WatchDecisions: async (client: AuditClient) => {
      for await (const _ of client.watchDecisions({})) break;
    },
  };

  test.each(["reader", "writer", "data_engineer"] as const)(
    "the %s may not, by any method, and each refusal is itself a decision",
    async (role: Role) => {
      for (const [method, call] of Object.entries(CALLS)) {
        const before = (await lab.ownDecisions()).length;
        await expect(call(lab.person("local", role))).rejects.toMatchObject({
          kind: "denied",
          reason: "RIGHT_MISSING",
        });
        const decisions = await lab.ownDecisions();
        expect(decisions.slice(before)).toMatchObject([
          {
            type: "AUTHORIZATION_DENIED",
            service: "audit",
            tenant: "local",
            actor: role,
            outcome: "DECISION_OUTCOME_REFUSED",
            details: { right: "audit.read", method: `lapse.audit.v1.AuditService/${method}` },
          },
        ]);
      }
    },
  );
});

describe("a role that is bound in the tenant", () => {
  const ana = () => lab.as({ subject: "ana", tenant: "local", roles: [], kind: "person" });
  afterEach(() => lab.tenantRights.clear());

  test("T6 opens the log by every method, for as long as it is bound", async () => {
    await lab.append(aDecision(), aDecision({ tenant: "other" }));
    lab.tenantRights.set("ana", ["audit.read"]);
    const client = ana();
    const { records } = await client.listDecisions({});
    expect(records.map(({ decision }) => decision?.tenant)).toEqual(["local"]);
    expect(await client.verifyChain({})).toMatchObject({ ok: true, records: 1n });
    for await (const { record } of client.watchDecisions({ afterSeq: 0n })) {
      expect(record?.seq).toBe(1n);
      break;
    }
    lab.tenantRights.clear();
    await expect(client.listDecisions({})).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
  });

  test("T6 opens it by no other right", async () => {
    lab.tenantRights.set("ana", ["sweep.manage", "table.read"]);
    await expect(ana().listDecisions({})).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
  });

  test("T6 counts for nothing while the catalog is away: who needs its word is told so in time, and not refused", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const access = createGrpcClient(AccessService, { url, serviceToken: "", log: SILENT });
    const own = await openLab("audit-catalog-away", { catalog: catalogPeer(access) });
    const started = performance.now();
    await expect(own.person("local", "reader").listDecisions({})).rejects.toMatchObject({
      kind: "unavailable",
      reason: "CATALOG_UNREACHABLE",
    });
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(await own.ownDecisions()).toEqual([]);
    expect((await own.person("local", "admin").listDecisions({})).records).toEqual([]);
    access.close();
    await own.close();
  });
});

describe("VerifyChain", () => {
  test("answers that a chain is whole, with its length and head", async () => {
    expect(await admin.verifyChain({})).toMatchObject({ ok: true, records: 0n, headHash: "" });
    const records = await lab.append(aDecision(), aDecision({ sourceSequence: 2n }));
    const { hash } = records[1] ?? {};
    expect(await admin.verifyChain({})).toMatchObject({
      ok: true,
      records: 2n,
      headHash: hash && hexOf(hash),
      brokenAtSeq: 0n,
      fault: "",
      gaps: [],
    });
  });

  test("answers where a chain is broken, and how", async () => {
    await lab.append(aDecision(), aDecision({ sourceSequence: 2n }));
    await behindTheBack(lab.pool, "update decision_record set actor = 'mallory' where seq = 2");
    expect(await admin.verifyChain({})).toMatchObject({
      ok: false,
      records: 1n,
      brokenAtSeq: 2n,
      fault: "record 2 does not match its hash",
    });
    expect((await lab.person("other", "admin").verifyChain({})).ok).toBe(true);
  });
});
