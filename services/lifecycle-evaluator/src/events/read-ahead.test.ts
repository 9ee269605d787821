import { describe, expect, test } from "@jest/globals";
import type { Delivery } from "@lapse/kit";
import { readAhead } from "./read-ahead.ts";
import type { StreamFold } from "./stream-fold.ts";

/** Only what is compared of a delivery. */
const delivery = (body: number) => ({ body: Uint8Array.of(body) }) as unknown as Delivery;

function counting() {
  const reads: number[] = [];
  const fold: StreamFold<number> = {
    stream: "ACTIVITY",
    source: null,
    read({ body: [value = 0] }) {
      reads.push(value);
      if (value === 13) throw new Error("unreadable");
      return value === 0 ? null : value;
    },
    apply: async () => ({ refused: [], count: () => undefined }),
  };
  return { reads, ahead: readAhead(fold) };
}

describe("readAhead", () => {
  test("reads a message when it comes in, and not again when it is folded", () => {
    const { reads, ahead } = counting();
    const messages = [delivery(1), delivery(0)];
    ahead.onPulled(messages);
    expect(messages.map((each) => ahead.fold.read(each))).toEqual([1, null]);
    expect(reads).toEqual([1, 0]);
  });

  test("keeps what cannot be read to itself until it is asked for, each time", () => {
    const { ahead } = counting();
    const poison = delivery(13);
    expect(() => ahead.onPulled([poison, delivery(1)])).not.toThrow();
    expect(() => ahead.fold.read(poison)).toThrow("unreadable");
    expect(() => ahead.fold.read(poison)).toThrow("unreadable");
  });

  test("reads at once what did not come in before", () => {
    const { ahead } = counting();
    expect(ahead.fold.read(delivery(5))).toBe(5);
  });
});
