import { EXIT, reportFailure } from "./exit.ts";
import { createProgram } from "./program.ts";

/** Runs the CLI and ends the process with its exit code. */
async function main(): Promise<void> {
  // A reader such as `head` may close the pipe early: that is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.ok);
    throw error;
  });
  const program = createProgram();
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = reportFailure(error, program.opts()["json" as never] === true);
  }
}

await main();
