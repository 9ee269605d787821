import { EXIT } from "./exit.ts";
import { run } from "./run.ts";

// A reader such as `head` may close the pipe early: that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  throw error;
});

process.exitCode = await run(process.argv.slice(2));
