import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { LocalError } from "../local-error.ts";
import { freePortOffset } from "../ports.ts";
import { LocalStack } from "../stack.ts";
import { DemoFailure, Stage } from "./stage.ts";
import { tablesDemo } from "./tables.ts";

const DAY_SECONDS = 6;

/** Plays the demo on a private stack that leaves nothing behind. Ends with 0 only when every step did what it should. */
async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "lapse-demo-"));
  const env = {
    ...withoutLapse(process.env),
    LAPSE_TIME__DAY_SECONDS: String(DAY_SECONDS),
    LAPSE_RUN__SWEEP_INTERVAL: "1",
    LAPSE_TABLES__UNDO_DAYS: "3",
  };
  const stack = new LocalStack({
    settings: { dir, portOffset: await freePortOffset() },
    env,
    report: (line) => void process.stderr.write(`${line}\n`),
  });
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => reject(new DemoFailure("Interrupted.")));
    }
  });
  process.once("exit", () => stack.signal(true));
  const write = (text: string) => void process.stdout.write(text);
  try {
    write("Starting a private stack …\n");
    await Promise.race([stack.start(), interrupted]);
    const stage = new Stage(dir, write);
    await Promise.race([tablesDemo(stage, DAY_SECONDS), interrupted]);
    write("\nEverything did what it should.\n");
  } finally {
    await stack.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function withoutLapse(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !key.startsWith("LAPSE_")));
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const known = error instanceof LocalError || error instanceof DemoFailure;
  process.stderr.write(`\ndemo: ${known ? error.message : inspect(error)}\n`);
  process.exit(1);
}
