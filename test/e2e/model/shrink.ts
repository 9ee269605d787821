import fc from "fast-check";
import type { Difference } from "./life.ts";
import type { Stack } from "./real/stack.ts";
import { liveTogether } from "./run.ts";
import { type Sequence, sequence } from "./sequences.ts";
import { Tally } from "./tally.ts";

/**
 * The least sequence that still differs, found by living it alone again and again within `withinMs`. One that differs
 * only beside others, or only now and then, stays as it is.
 */
export async function shrink(
  stack: Stack,
  difference: Difference,
  withinMs: number,
): Promise<Difference> {
  let least = difference;
  const isSame = async (tried: Sequence) => {
    const [found] = (await liveTogether(stack, [tried], new Tally())).differences;
    if (found) least = found;
    return found === undefined;
  };
  await fc.check(fc.asyncProperty(sequence, isSame), {
    examples: [[difference.sequence]],
    numRuns: 1,
    interruptAfterTimeLimit: withinMs,
  });
  return least;
}

/** A difference in words, with all that is needed to see it again. */
export const explain = ({ sequence, round, faults, history }: Difference): string =>
  [
    `in round ${round}:`,
    ...faults.map((fault) => `- ${fault}`),
    "by:",
    ...history,
    `sequence: ${JSON.stringify(sequence)}`,
  ].join("\n");
