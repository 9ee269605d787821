import {
  applyOne,
  begin,
  CONCURRENCY,
  type Difference,
  differ,
  type Life,
  note,
  step,
} from "./life.ts";
import { concurrently } from "./real/concurrently.ts";
import { DecisionReader, observe, observeReads, overview } from "./real/observe.ts";
import { passTime } from "./real/pass-time.ts";
import { perform } from "./real/perform.ts";
import { whenQuiet } from "./real/quiet.ts";
import type { Stack } from "./real/stack.ts";
import { adopt } from "./rules/adopt.ts";
import { compare, compareReads } from "./rules/compare.ts";
import { compareDecisions } from "./rules/compare-decisions.ts";
import { distinct } from "./rules/state.ts";
import { daysPass, purgesDone } from "./rules/time.ts";
import { quiet } from "./rules/uses.ts";
import { runSweep } from "./run-sweep.ts";
import type { Round, Sequence } from "./sequences.ts";
import { makeFirst, takeSteps } from "./take-steps.ts";
import type { Tally } from "./tally.ts";

/** What came of sequences that were lived side by side. */
export interface Lived {
  /** None: everything was as it should be. */
  readonly differences: readonly Difference[];
  /** The ids of all decisions that were to be recorded, by organisation. */
  readonly decided: ReadonlyMap<string, readonly string[]>;
}

/**
 * Lives sequences side by side, each in an environment of its own, in rounds: what each has to do next; all is quiet;
 * days pass; one sweep for all; each is compared with its model. An environment that differs is left alone. What happens
 * is counted in `tally`.
 */
export async function liveTogether(
  stack: Stack,
  sequences: readonly Sequence[],
  tally: Tally,
): Promise<Lived> {
  const reader = new DecisionReader(stack);
  await whenQuiet(stack);
  await reader.skip();
  const lives = await begin(stack, sequences);
  await concurrently(lives, CONCURRENCY, (life) => makeFirst(stack, tally, life));
  const rounds = Math.max(...sequences.map((sequence) => sequence.rounds.length));
  for (let nth = 0; nth < rounds; nth++) {
    const going = lives.filter((life) => !life.difference && nth < life.sequence.rounds.length);
    for (const life of going) life.round = nth;
    await liveRound(stack, { reader, tally, lives: going });
  }
  await endAll(stack, { reader, tally, lives });
  const differences = lives.flatMap(({ difference }) => (difference ? [difference] : []));
  // Environments of former sequences are still there, and swept too.
  const tenants = new Set(lives.map(({ subject }) => subject.tenant));
  const decided = new Map([...reader.ids].filter(([tenant]) => tenants.has(tenant)));
  return { differences, decided };
}

interface Going {
  readonly reader: DecisionReader;
  readonly tally: Tally;
  readonly lives: readonly Life[];
}

const roundOf = ({ sequence, round }: Life): Round =>
  sequence.rounds[round] ?? { steps: [], days: 0, meanwhile: null };

async function liveRound(stack: Stack, { reader, tally, lives }: Going): Promise<void> {
  await concurrently(lives, CONCURRENCY, (life) =>
    takeSteps(stack, tally, life, roundOf(life).steps),
  );
  await settleDown(stack, lives);
  await letDaysPass(stack, lives);
  await runSweep(stack, tally, lives, roundOf);
  await settleDown(stack, lives);
  await compareAll(stack, reader, lives);
}

/**
 * Counts the reads of every table (T17), deletes the environments in which nothing is left, and tries to delete the
 * others (T31).
 */
async function endAll(stack: Stack, { reader, tally, lives }: Going): Promise<void> {
  await concurrently(lives, CONCURRENCY, async (life) => {
    const reads = await observeReads(stack, life.subject);
    step(life, (model) => compareReads(model, reads));
    const operation = { kind: "deleteEnvironment", actor: "root" } as const;
    const performed = await perform(stack, life.subject, operation, { beside: false });
    tally.performed(performed);
    note(life, "last", performed);
    applyOne(life, performed);
  });
  await whenQuiet(stack);
  const decisionsIn = await reader.read();
  for (const life of lives) {
    const [model] = life.models;
    if (life.difference || model === undefined) continue;
    const faults = compareDecisions(model.decisions, decisionsIn(life.subject));
    if (faults.length > 0) differ(life, faults);
  }
}

async function settleDown(stack: Stack, lives: readonly Life[]): Promise<void> {
  await whenQuiet(stack);
  for (const life of lives) step(life, quiet);
}

async function letDaysPass(stack: Stack, lives: readonly Life[]): Promise<void> {
  const passing = lives.filter((life) => roundOf(life).days > 0);
  if (passing.length === 0) return;
  const from = Date.now();
  await passTime(
    stack,
    passing.map((life) => ({
      environmentId: life.subject.environmentId,
      days: roundOf(life).days,
    })),
  );
  await whenQuiet(stack);
  const now = { from, to: Date.now() };
  for (const life of passing) {
    const { days } = roundOf(life);
    life.history.push(`round ${life.round}: ${days} days pass`);
    step(life, (model) => purgesDone(daysPass(model, days), now));
  }
}

async function compareAll(
  stack: Stack,
  reader: DecisionReader,
  lives: readonly Life[],
): Promise<void> {
  const all = await overview(
    stack,
    lives.map(({ subject }) => subject),
    reader,
  );
  await concurrently(lives, CONCURRENCY, async (life) => {
    if (life.difference) return;
    const seen = await observe(stack, life.subject, all);
    const compared = life.models.map((model) => ({ model, faults: compare(model, seen) }));
    const same = compared.filter(({ faults }) => faults.length === 0);
    if (same.length > 0) {
      life.models = distinct(same.map(({ model }) => adopt(model, seen)));
      return;
    }
    const [nearest] = compared.sort((a, b) => a.faults.length - b.faults.length);
    differ(life, nearest?.faults ?? ["no state was possible"]);
  });
}
