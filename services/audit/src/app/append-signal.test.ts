import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { createAppendSignal, LONGEST_WAIT_MS } from "./append-signal.ts";

const NEVER = new AbortController().signal;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Whether the promise has settled by now. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  return done;
}

describe("the signal that something was appended", () => {
  test("wakes everyone who waits for that tenant, and nobody else", async () => {
    const signal = createAppendSignal();
    const [a, b, other] = [
      signal.next("local", NEVER),
      signal.next("local", NEVER),
      signal.next("other", NEVER),
    ];
    signal.raise("local");
    expect([await isDone(a), await isDone(b), await isDone(other)]).toEqual([true, true, false]);
  });

  test("wakes everybody when it is not known what was appended", async () => {
    const signal = createAppendSignal();
    const waits = [signal.next("local", NEVER), signal.next("other", NEVER)];
    signal.raise("");
    expect(await Promise.all(waits.map(isDone))).toEqual([true, true]);
  });

  test("does not wake who comes after it", async () => {
    const signal = createAppendSignal();
    signal.raise("local");
    expect(await isDone(signal.next("local", NEVER))).toBe(false);
  });

  test("a notification that got lost delays nobody for longer than the longest wait", async () => {
    const wait = createAppendSignal().next("local", NEVER);
    jest.advanceTimersByTime(LONGEST_WAIT_MS - 1);
    expect(await isDone(wait)).toBe(false);
    jest.advanceTimersByTime(1);
    expect(await isDone(wait)).toBe(true);
  });

  test("ends with its caller, before and while it waits, and leaves no timer behind", async () => {
    const signal = createAppendSignal();
    expect(await isDone(signal.next("local", AbortSignal.abort()))).toBe(true);
    const caller = new AbortController();
    const wait = signal.next("local", caller.signal);
    caller.abort();
    expect(await isDone(wait)).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });
});
