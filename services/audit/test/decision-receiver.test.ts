import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createMetrics, type Metrics } from "@lapse/kit";
import { DecisionOutcome } from "@lapse/proto/events";
import { findSourceGaps } from "../src/app/find-source-gaps.ts";
import { recordLoss } from "../src/app/record-loss.ts";
import { verifyChain } from "../src/app/verify-chain.ts";
import { type DecisionReceiver, decisionReceiver } from "../src/events/decision-receiver.ts";
import { readChain } from "../src/store/decision-record.ts";
import { type AuditDatabase, auditDatabase, behindTheBack } from "./lab/database.ts";
import { deliveryOf, sentDecision } from "./lab/delivery.ts";

let database: AuditDatabase;
let metrics: Metrics;
let receiver: DecisionReceiver;

beforeAll(async () => {
  database = await auditDatabase("audit-receiver");
});
afterAll(() => database.drop());
beforeEach(async () => {
  await behindTheBack(
    database.pool,
    "truncate decision_record, chain_head, lapse_kit.inbox, lapse_kit.outbox",
  );
  metrics = createMetrics("audit");
  receiver = decisionReceiver({ pool: database.pool, metrics });
});

const chain = () => readChain(database.pool, "local", 0n, 1_000);
const gaps = () => findSourceGaps(database.pool);
const NOT_A_MESSAGE = Buffer.from("no message at all");

describe("decisions from the stream", () => {
  test("are appended in the order of their source, whatever the order of arrival", async () => {
    const deliveries = [3n, 1n, 2n].map((sequence) => deliveryOf(sentDecision(), { sequence }));
    await receiver.fromStream(deliveries);
    expect((await chain()).map(({ sourceSequence }) => sourceSequence)).toEqual([1n, 2n, 3n]);
    expect(await gaps()).toEqual([]);
  });

  test("delivered again, alone or among others, are appended once", async () => {
    const first = deliveryOf(sentDecision(), { sequence: 1n });
    const second = deliveryOf(sentDecision(), { sequence: 2n });
    await receiver.fromStream([first]);
    await receiver.fromStream([second, first]);
    await receiver.fromStream([first]);
    expect(await chain()).toHaveLength(2);
  });

  test("that never came are a gap, until they do", async () => {
    const sent = [1n, 2n, 3n, 4n].map((sequence) => deliveryOf(sentDecision(), { sequence }));
    const [one, two, three, four] = sent as [(typeof sent)[0], ...typeof sent] as typeof sent;
    await receiver.fromStream([one, four].flatMap((each) => each ?? []));
    expect(await gaps()).toEqual([{ source: "lapse.catalog", fromSequence: 2n, toSequence: 3n }]);
    await receiver.fromOutbox([two, three].flatMap((each) => each ?? []));
    expect(await gaps()).toEqual([]);
    expect(await chain()).toHaveLength(4);
    expect(
      (await verifyChain(database.pool, "local", new AbortController().signal)).fault,
    ).toBeNull();
  });

  test("are taken without a number from who has none to give", async () => {
    await receiver.fromStream([deliveryOf(sentDecision(), { source: "elsewhere" })]);
    expect(await chain()).toMatchObject([{ source: "elsewhere", sourceSequence: null }]);
    expect(await gaps()).toEqual([]);
  });

  test("that cannot be read are parked with the reason, are no gap, and keep nobody back", async () => {
    const unreadable = deliveryOf(NOT_A_MESSAGE, { sequence: 1n });
    const empty = deliveryOf(sentDecision({ tenant: "" }), { sequence: 2n });
    const good = deliveryOf(sentDecision(), { sequence: 3n });
    const result = await receiver.fromStream([unreadable, empty, good]);
    expect(result).toEqual({
      parked: [
        { delivery: unreadable, reason: expect.stringContaining("EVENT_UNREADABLE") },
        {
          delivery: empty,
          reason: "DECISION_INVALID: the decision's tenant is missing",
        },
      ],
    });
    expect(await chain()).toHaveLength(1);
    expect(await gaps()).toEqual([]);
  });

  test("that carry the id of another are parked, and the first stands", async () => {
    const sent = sentDecision({ actor: "ana" });
    await receiver.fromStream([deliveryOf(sent, { sequence: 1n })]);
    const second = deliveryOf({ ...sent, actor: "mallory" }, { sequence: 2n });
    expect(await receiver.fromStream([second])).toMatchObject({
      parked: [{ delivery: second, reason: expect.stringContaining("DECISION_ID_REUSED") }],
    });
    expect(await chain()).toMatchObject([{ actor: "ana" }]);
  });

  test("that were parked and are tried again once they can be read are appended", async () => {
    const sent = sentDecision();
    await receiver.fromStream([deliveryOf(NOT_A_MESSAGE, { sequence: 1n })]);
    await receiver.fromStream([deliveryOf(sent, { sequence: 1n })]);
    expect(await chain()).toHaveLength(1);
  });

  test("fail together, and leave nothing, while the database refuses", async () => {
    const delivery = deliveryOf(sentDecision(), { sequence: 1n });
    await database.pool.query("alter table lapse_kit.inbox rename to inbox_away");
    await expect(receiver.fromStream([delivery])).rejects.toThrow();
    await database.pool.query("alter table lapse_kit.inbox_away rename to inbox");
    expect(await chain()).toEqual([]);
    await receiver.fromStream([delivery]);
    expect(await chain()).toHaveLength(1);
  });

  test("are counted by type and outcome, those of no known type together", async () => {
    await receiver.fromStream([
      deliveryOf(sentDecision(), { sequence: 1n }),
      deliveryOf(sentDecision({ type: "TABLE_KEPT", outcome: DecisionOutcome.KEPT }), {
        sequence: 2n,
      }),
      deliveryOf(sentDecision({ type: "ANYTHING" }), { sequence: 3n }),
      deliveryOf(sentDecision({ type: "WHATEVER" }), { sequence: 4n }),
    ]);
    const text = await metrics.registry.getSingleMetricAsString("lapse_decisions_total");
    const counts = [...text.matchAll(/\{type="(\w+)",outcome="(\w+)".*\} (\d+)/g)];
    expect(counts.map(([, type, outcome, count]) => [type, outcome, count]).sort()).toEqual([
      ["TABLE_DROPPED", "done", "1"],
      ["TABLE_KEPT", "kept", "1"],
      ["other", "done", "2"],
    ]);
  });
});

describe("decisions sent again by their source", () => {
  test("that cannot be read stay a gap, since nothing parks them, and the others are appended", async () => {
    const unreadable = deliveryOf(NOT_A_MESSAGE, { sequence: 1n });
    const good = deliveryOf(sentDecision(), { sequence: 2n });
    await expect(receiver.fromOutbox([unreadable, good])).rejects.toMatchObject({
      kind: "invalid",
    });
    expect(await chain()).toHaveLength(1);
    expect(await gaps()).toEqual([{ source: "lapse.catalog", fromSequence: 1n, toSequence: 1n }]);
  });
});

describe("decisions that are gone for good", () => {
  test("are themselves recorded, as what concerns no one tenant", async () => {
    const range = { source: "lapse.catalog", stream: "DECISION", from: 3n, to: 9n };
    await recordLoss(database.pool, range);
    const { rows } = await database.pool.query<{ subject: string }>(
      "select subject from lapse_kit.outbox",
    );
    expect(rows).toEqual([{ subject: "decision.audit.DECISIONS_LOST" }]);
  });
});
