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
  const live = async (tried: Sequence) => {
    const [found] = (await liveTogether(stack, [tried], new Tally())).differences;
    if (found) least = found;
    return found === undefined;
  };
  let last: Promise<boolean> | undefined;
  const isSame = (tried: Sequence) => {
    last = live(tried);
    return last;
  };
  await fc.check(fc.asyncProperty(sequence, isSame), {
    examples: [[difference.sequence]],
    numRuns: 1,
    interruptAfterTimeLimit: withinMs,
  });
  // What is interrupted is not ended by it.
  await Promise.allSettled([last]);
  return least;
}

/** Differences in words, with all that is needed to see the least of them again. */
export const explain = (
  differences: readonly Difference[],
  { sequence, round, faults, history }: Difference,
  of: string,
): string =>
  [
    `${differences.length} differ, of ${of}:`,
    ...differences.map(({ faults: [first] }) => `- ${first}`),
    `the first, as short as could be, in its round ${round}:`,
    ...faults.map((fault) => `- ${fault}`),
    "by:",
    ...history,
    `sequence: ${JSON.stringify(sequence)}`,
  ].join("\n");
