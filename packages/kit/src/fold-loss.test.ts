import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { StreamInfo } from "nats";
import { type FoldPosition, lossOf } from "./fold-loss.ts";

const CREATED = "2026-05-01T00:00:00.123456789Z";

const stream = (first_seq: number, last_seq: number, created = CREATED): StreamInfo =>
  ({ config: { name: "ACTIVITY" }, created, state: { first_seq, last_seq } }) as StreamInfo;

const at = (sequence: number, created: string | null = CREATED): FoldPosition => ({
  sequence: BigInt(sequence),
  streamCreatedAt: created === null ? null : new Date(created),
});

describe("lossOf", () => {
  test.each([
    ["at the end", at(10), stream(1, 10)],
    ["with more to come", at(10), stream(1, 20)],
    ["right before the first that is left", at(10), stream(11, 20)],
    ["in a stream emptied of what was folded", at(10), stream(11, 10)],
    ["before a first batch", at(0, null), stream(0, 0)],
    ["before a first batch, with messages there", at(0, null), stream(1, 5)],
  ])("nothing is lost %s", (_where, position, info) => {
    expect(lossOf(position, info)).toBeUndefined();
  });

  test("messages that aged out before they were folded are lost", () => {
    expect(lossOf(at(10), stream(15, 20))).toMatchObject({
      kind: "messages_gone",
      missing: { from: 11n, to: 14n },
      resumeAt: { sequence: 14n },
    });
    expect(lossOf(at(10), stream(21, 20))).toMatchObject({ missing: { from: 11n, to: 20n } });
    expect(lossOf(at(0, null), stream(4, 9))).toMatchObject({ missing: { from: 1n, to: 3n } });
  });

  test("a stream of the same name made at another time is another one, however its numbers stand", () => {
    const other = "2026-05-02T00:00:00Z";
    expect(lossOf(at(10), stream(1, 50, other))).toMatchObject({
      kind: "stream_recreated",
      missing: undefined,
      resumeAt: { sequence: 0n, streamCreatedAt: new Date(other) },
    });
    expect(lossOf(at(10), stream(0, 0, other))).toMatchObject({ resumeAt: { sequence: 0n } });
  });

  test("a position in a stream that nobody noted is not trusted", () => {
    expect(lossOf(at(10, null), stream(1, 50))).toMatchObject({ kind: "stream_recreated" });
  });

  test("a stream that ends before the position was set back", () => {
    expect(lossOf(at(10), stream(1, 7))).toMatchObject({
      kind: "stream_truncated",
      resumeAt: { sequence: 7n },
    });
  });

  test("the time the stream was made is compared as a database keeps it, in milliseconds", () => {
    expect(lossOf(at(10, "2026-05-01T00:00:00.123Z"), stream(1, 10))).toBeUndefined();
  });

  test("going on where it says loses nothing more, and never passes over what is there", () => {
    const number = fc.integer({ min: 0, max: 30 });
    fc.assert(
      fc.property(number, number, number, fc.boolean(), (sequence, first, length, same) => {
        const info = stream(first, Math.max(0, first - 1) + length);
        const loss = lossOf(at(sequence, same ? CREATED : "2020-01-01T00:00:00Z"), info);
        if (!loss) return;
        expect(lossOf(loss.resumeAt, info)).toBeUndefined();
        const before = BigInt(Math.max(0, first - 1));
        const folded = loss.kind === "stream_truncated" ? BigInt(sequence) : before;
        expect(loss.resumeAt.sequence <= folded).toBe(true);
      }),
    );
  });
});
