import { EXIT, type ExitCode, reportFailure } from "./exit.ts";
import { createProgram } from "./program.ts";

/** Runs the CLI on its arguments, those after the program's own name, and tells how it ended. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  const program = createProgram();
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (error) {
    return reportFailure(error, program.opts()["json" as never] === true);
  }
}
