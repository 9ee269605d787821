import { describe, expect, test } from "@jest/globals";
import { type Handle, judge } from "./consumer-verdict.ts";
import { type Delivery, toDelivery } from "./delivery.ts";
import { type ErrorKind, invalid, LapseError, unavailable } from "./errors.ts";

const delivery = (nth: number, deliveryCount = 1): Delivery =>
  toDelivery({
    stream: "CATALOG",
    subject: "catalog.table.changed",
    streamSequence: BigInt(nth),
    deliveryCount,
    storedAt: new Date(0),
    headers: {},
    body: new Uint8Array(),
  });

/** Fails whenever one of the failing deliveries is in hand. */
const failingFor =
  (failing: readonly Delivery[], error: unknown, calls: Delivery[][] = []): Handle =>
  async (deliveries) => {
    calls.push([...deliveries]);
    if (deliveries.some((each) => failing.includes(each))) throw error;
  };

const kinds = async (deliveries: readonly Delivery[], handle: Handle) => {
  const verdicts = await judge(deliveries, handle);
  return deliveries.map((each) => verdicts.get(each)?.kind);
};

describe("judge", () => {
  test("a batch that is handled is done, but for what the handler wants parked", async () => {
    const [a, b] = [delivery(1), delivery(2)];
    expect(await kinds([a, b], async () => {})).toEqual(["done", "done"]);
    const parking: Handle = async () => ({ parked: [{ delivery: b, reason: "WHY" }] });
    expect(await kinds([a, b], parking)).toEqual(["done", "park"]);
  });

  test("a poisonous message harms no neighbour", async () => {
    const all = [1, 2, 3, 4].map((nth) => delivery(nth));
    const bad = all.slice(1, 2);
    expect(await kinds(all, failingFor(bad, invalid("X", "x")))).toEqual([
      "done",
      "park",
      "done",
      "done",
    ]);
  });

  test.each<[ErrorKind, number, string]>([
    ["invalid", 1, "park"],
    ["unavailable", 1, "hold"],
    ["unavailable", 40, "hold"],
    ["conflict", 9, "hold"],
    ["exhausted", 9, "hold"],
    ["unauthenticated", 9, "hold"],
    ["internal", 1, "again"],
    ["internal", 4, "again"],
    ["internal", 5, "park"],
    ["precondition", 5, "park"],
    ["denied", 4, "again"],
    ["not_found", 5, "park"],
  ])("%s at delivery %i: %s", async (kind, count, expected) => {
    const one = delivery(1, count);
    const error = new LapseError({ kind, reason: "X", message: "x" });
    expect(await kinds([one], failingFor([one], error))).toEqual([expected]);
  });

  test("an unknown error counts as internal, and waits longer each time", async () => {
    const delays = [];
    for (const count of [1, 2, 3, 4]) {
      const one = delivery(1, count);
      const verdict = (await judge([one], failingFor([one], new TypeError("bug")))).get(one);
      delays.push(verdict?.kind === "again" ? verdict.delayMs : undefined);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  test("when everything fails because something is away, most of a batch is not even tried", async () => {
    const all = Array.from({ length: 50 }, (_, nth) => delivery(nth));
    const calls: Delivery[][] = [];
    const verdicts = await kinds(all, failingFor(all, unavailable("X", "x"), calls));
    expect(new Set(verdicts)).toEqual(new Set(["hold"]));
    expect(calls.length).toBe(4);
  });

  test("once stopped, what has not been tried is held", async () => {
    const all = [1, 2, 3].map((nth) => delivery(nth));
    const stop = new AbortController();
    const verdicts = await judge(
      all,
      async (deliveries) => {
        if (deliveries.length > 1) throw invalid("X", "x");
        stop.abort();
      },
      { signal: stop.signal },
    );
    expect(all.map((each) => verdicts.get(each)?.kind)).toEqual(["done", "hold", "hold"]);
  });
});
