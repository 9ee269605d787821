import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { FailedError, UsageError } from "./exit.ts";

/**
 * Says what will happen and goes on only after a yes: on the terminal, or by `--yes`, which is the way to say it
 * without one.
 */
export async function confirm(consequence: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) {
    throw new UsageError(`${consequence} There is no terminal to ask on: add --yes to say so.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // A question that is closed with Ctrl-D or Ctrl-C is never answered.
    const closed = once(prompt, "close").then(() => "");
    const answer = await Promise.race([prompt.question(`${consequence} Go on? [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new FailedError("Nothing was changed.");
  } finally {
    prompt.close();
  }
}
