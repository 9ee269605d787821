import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { auditFaults } from "./real/audit.ts";
import type { Guard } from "./real/peers.ts";
import { type Stack, startStack } from "./real/stack.ts";
import { liveTogether } from "./run.ts";
import { readWhileConfirming, type Sequence, sequence } from "./sequences.ts";
import { explain, shrink } from "./shrink.ts";
import { Tally } from "./tally.ts";

/** `MODEL_RUNS=1000` for the whole; `MODEL_SEED` for the same sequences again. */
const RUNS = Number(process.env.MODEL_RUNS ?? 150);
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
/** Lived side by side. */
const GROUP = 200;
const SHRINK_WITHIN_MS = 120_000;

/** What cannot but happen in so many runs. */
const MUST_HAPPEN = [
  ...["create", "commit", "describe", "drop", "undrop", "rename", "deploy", "use", "hold"],
  ...["setRetention", "setEnvironmentRetention", "protect", "touchTable", "touchEnvironment"],
].map((kind) => `${kind} done`);
const MUST_COME_OF_SWEEPS = ["dropped", "kept held", "kept not_due", "kept policy_changed"];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 120_000);
afterAll(() => stack?.stop(), 60_000);

const inGroups = (sequences: readonly Sequence[], size: number): readonly (readonly Sequence[])[] =>
  Array.from({ length: Math.ceil(sequences.length / size) }, (_, nth) =>
    sequences.slice(nth * size, (nth + 1) * size),
  );

describe("whatever is done to tables, in whatever order and at the same time", () => {
  const tally = new Tally();

  test("T1–T32 every table, rule, expiry, sweep, purge and decision is as the rules say", async () => {
    const sequences = fc.sample(sequence, { seed: SEED, numRuns: RUNS });
    for (const group of inGroups(sequences, GROUP)) {
      const { differences, decided } = await liveTogether(stack, group, tally);
      const [first] = differences;
      if (first) {
        const least = await shrink(stack, first, SHRINK_WITHIN_MS);
        throw new Error(explain(differences, least, `seed ${SEED}, ${group.length} runs`));
      }
      expect(await auditFaults(stack, decided)).toEqual([]);
    }
  }, 3_600_000);

  (RUNS >= 100 ? test : test.skip)("all of it has happened, not only been refused", () => {
    const happened = [...MUST_HAPPEN, ...MUST_COME_OF_SWEEPS.map((what) => `sweep ${what}`)];
    expect(happened.filter((what) => !tally.counts.has(what))).toEqual([]);
  });
});

describe("a guard that is off shows", () => {
  afterEach(() => stack.peers.without(null));

  test.each<[Guard, (sequence: Sequence) => Sequence, RegExp]>([
    ["confirm", readWhileConfirming, /dropped, and must not have been/],
    ["settle", (usual) => usual, /kept as policy_changed, and had to be dropped/],
  ])(
    "without %s there is a difference",
    async (guard, fitting, fault) => {
      stack.peers.without(guard);
      const sequences = fc.sample(sequence, { seed: SEED, numRuns: 400 }).map(fitting);
      for (const group of inGroups(sequences, 25)) {
        const { differences } = await liveTogether(stack, group, new Tally());
        if (differences.some(({ faults }) => faults.some((each) => fault.test(each)))) return;
      }
      throw new Error(`without ${guard} no sequence differs; seed ${SEED}`);
    },
    300_000,
  );
});
