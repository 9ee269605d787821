import { SweepStatus } from "@lapse/proto/evaluator";
import { applyOne, CONCURRENCY, type Life, note, step } from "./life.ts";
import { concurrently } from "./real/concurrently.ts";
import { perform } from "./real/perform.ts";
import type { Stack } from "./real/stack.ts";
import type { Performed } from "./rules/operation.ts";
import { type Moment, type SweepSeen, sweep, sweepWith } from "./rules/sweep.ts";
import type { Round } from "./sequences.ts";
import type { Tally } from "./tally.ts";

/** What is done in an environment while the sweep runs, and what came of it. */
interface Meanwhile {
  readonly life: Life;
  readonly moment: Moment;
  readonly start: () => Promise<void>;
  /** It was done while the sweep waited for it. */
  inTime: boolean;
  performed: Performed | undefined;
}

/** Runs one sweep for all environments, and meanwhile what their rounds say. */
export async function runSweep(
  stack: Stack,
  tally: Tally,
  lives: readonly Life[],
  roundOf: (life: Life) => Round,
): Promise<void> {
  const doing = lives.flatMap((life) => plan(stack, life, roundOf(life).meanwhile));
  stack.peers.around({
    before: (tableIds) => doAt("before confirming", doing, tableIds),
    after: (tableIds) => doAt("after confirming", doing, tableIds),
  });
  const from = Date.now();
  const [outcomes] = await Promise.all([sweepAll(stack), doBeside(doing)]);
  const during = { from, to: Date.now() };
  // Of those for whose environments the sweep found nothing due, nobody has been asked.
  await concurrently(doing, CONCURRENCY, ({ start }) => start());
  for (const { performed } of doing) tally.performed(performed);
  for (const life of lives) {
    const own = outcomesOf(life, outcomes);
    tally.swept(own);
    const its = doing.find((each) => each.life === life);
    judge(life, { during, outcomes: own }, its);
  }
}

function plan(stack: Stack, life: Life, planned: Round["meanwhile"]): readonly Meanwhile[] {
  if (life.difference || planned === null) return [];
  let started: Promise<void> | undefined;
  const doing: Meanwhile = {
    life,
    moment: planned.moment,
    start: () => {
      started ??= perform(stack, life.subject, planned.operation, { beside: true }).then(
        (performed) => {
          doing.performed = performed;
        },
      );
      return started;
    },
    inTime: false,
    performed: undefined,
  };
  return [doing];
}

function doBeside(doing: readonly Meanwhile[]): Promise<void> {
  const those = doing.filter(({ moment }) => moment === "beside");
  return concurrently(those, CONCURRENCY, ({ start }) => start());
}

async function doAt(
  moment: Moment,
  doing: readonly Meanwhile[],
  tableIds: readonly string[],
): Promise<void> {
  const those = doing.filter(
    (each) =>
      each.moment === moment &&
      tableIds.some((tableId) => each.life.subject.tableIds.includes(tableId)),
  );
  await concurrently(those, CONCURRENCY, async (each) => {
    each.inTime = true;
    await each.start();
  });
}

type Outcomes = SweepSeen["outcomes"];

async function sweepAll({ evaluator }: Stack): Promise<Outcomes> {
  const { sweep } = await evaluator.runSweep({ waitSeconds: 60 }, { deadlineMs: 70_000 });
  if (sweep?.status !== SweepStatus.COMPLETED) {
    throw new Error(`a sweep ended with status ${sweep?.status}: ${sweep?.heldReason}`);
  }
  const { outcomes } = await evaluator.getSweep({ sweepId: sweep.sweepId });
  return new Map(outcomes.map(({ tableId, outcome, reason }) => [tableId, { outcome, reason }]));
}

const outcomesOf = ({ subject }: Life, all: Outcomes): Outcomes =>
  new Map(
    subject.tableIds.flatMap((tableId) => {
      const said = all.get(tableId);
      return said ? [[tableId, said]] : [];
    }),
  );

function judge(life: Life, seen: SweepSeen, doing: Meanwhile | undefined): void {
  const { performed, moment = "beside", inTime = false } = doing ?? {};
  const together = moment === "beside" || inTime;
  note(life, `round ${life.round}, ${together ? moment : "after the sweep"}`, performed);
  life.history.push(`round ${life.round}: sweep -> ${JSON.stringify([...seen.outcomes])}`);
  if (performed && together) {
    step(life, (model) => sweepWith(model, seen, { performed, moment }));
    return;
  }
  step(life, (model) => sweep(model, seen));
  applyOne(life, performed);
}
