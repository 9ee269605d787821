import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { auditFaults } from "./real/audit.ts";
import type { Guard } from "./real/peers.ts";
import { type Stack, startStack } from "./real/stack.ts";
import { type Lived, liveTogether } from "./run.ts";
import { type Sequence, sequence } from "./sequences.ts";
import { explain, shrink } from "./shrink.ts";

/** `MODEL_RUNS=1000` for the whole; `MODEL_SEED` for the same sequences again. */
const RUNS = Number(process.env.MODEL_RUNS ?? 120);
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
/** Lived side by side. */
const GROUP = 200;
const SHRINK_WITHIN_MS = 60_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 120_000);
afterAll(() => stack?.stop(), 60_000);

/** Lives them in groups, up to the first group with a difference. */
async function* inGroups(sequences: readonly Sequence[], size: number): AsyncGenerator<Lived> {
  for (let from = 0; from < sequences.length; from += size) {
    yield await liveTogether(stack, sequences.slice(from, from + size));
  }
}

describe("whatever people and systems do to tables, in whatever order and at the same time", () => {
  test("T1–T32 every table, rule, expiry, sweep, purge and decision is as the rules say", async () => {
    const sequences = fc.sample(sequence, { seed: SEED, numRuns: RUNS });
    for await (const { differences, decided } of inGroups(sequences, GROUP)) {
      const [first] = differences;
      if (first) {
        const least = await shrink(stack, first, SHRINK_WITHIN_MS);
        throw new Error(
          `seed ${SEED}, ${differences.length} of ${RUNS} runs differ; the first, ${explain(least)}`,
        );
      }
      expect(await auditFaults(stack, decided)).toEqual([]);
    }
  }, 1_800_000);
});

describe("a guard that is off shows", () => {
  afterEach(() => stack.peers.without(null));

  test.each<[Guard, RegExp]>([
    ["confirm", /dropped, and must not have been/],
    ["settle", /kept as policy_changed, and had to be dropped/],
  ])(
    "without %s a sequence differs",
    async (guard, fault) => {
      stack.peers.without(guard);
      const sequences = fc.sample(sequence, { seed: SEED, numRuns: 400 });
      for await (const { differences } of inGroups(sequences, 50)) {
        const found = differences.find(({ faults }) => fault.test(faults.join()));
        if (found) return;
      }
      throw new Error(`no sequence differs without ${guard}; seed ${SEED}`);
    },
    300_000,
  );
});
