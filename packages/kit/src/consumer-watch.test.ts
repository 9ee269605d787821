import { describe, expect, test } from "@jest/globals";
import type { ConsumerInfo } from "nats";
import { isStalled } from "./consumer-watch.ts";

/** What a look at a stalled consumer shows. */
const info = (changes: Partial<ConsumerInfo> = {}) =>
  ({
    stream_name: "ACTIVITY",
    name: "c",
    created: "2026-05-01T00:00:00Z",
    config: {} as ConsumerInfo["config"],
    delivered: { consumer_seq: 5, stream_seq: 5, last_active: 0 },
    ack_floor: { consumer_seq: 5, stream_seq: 5, last_active: 0 },
    num_ack_pending: 0,
    num_redelivered: 0,
    num_waiting: 1,
    num_pending: 3,
    push_bound: false,
    ...changes,
  }) as ConsumerInfo;

const moved = { consumer_seq: 4, stream_seq: 4, last_active: 0 };

describe("isStalled", () => {
  test("is what is pending, asked for, in nobody's hand and not moving", () => {
    expect(isStalled({ info: info(), last: info(), idleMs: 11_000 })).toBe(true);
  });

  test.each([
    ["asked for only now", { info: info(), last: info(), idleMs: 9_000 }],
    ["nothing pending", { info: info({ num_pending: 0 }), last: info(), idleMs: 11_000 }],
    ["nothing pending before", { info: info(), last: info({ num_pending: 0 }), idleMs: 11_000 }],
    ["in somebody's hand", { info: info({ num_ack_pending: 1 }), last: info(), idleMs: 11_000 }],
    ["moving", { info: info(), last: info({ delivered: moved }), idleMs: 11_000 }],
    ["looked at once", { info: info(), last: undefined, idleMs: 11_000 }],
    ["made anew in between", { info: info({ created: "x" }), last: info(), idleMs: 11_000 }],
  ])("is not what is %s", (_what, looks) => {
    expect(isStalled(looks)).toBe(false);
  });
});
