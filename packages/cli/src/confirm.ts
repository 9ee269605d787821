import { createInterface } from "node:readline/promises";
import { FailedError, UsageError } from "./exit.ts";

/** Asks on the terminal and goes on only after a yes; without a terminal, `--yes` is the way to say it. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageError(`${question} There is no terminal to ask on: add --yes to say so.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new FailedError("Nothing was changed.");
  } finally {
    prompt.close();
  }
}
