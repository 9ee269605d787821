import { LapseApiError, LapseInputError, LapseUnreachableError } from "@lapse/sdk";
import { CommanderError } from "commander";
import { stderrColors } from "./output/colors.ts";

/** What a script can tell from how the CLI ended. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3, notFound: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something the caller got wrong, said in a sentence that says what to do. Ends with code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Work that did not succeed, for a reason that is a sentence already. Ends with code 1. */
export class FailedError extends Error {
  override readonly name = "FailedError";
}

/** Something that the CLI itself does not do, since it would do harm. Ends with code 3. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** Maps what a command threw to an exit code, and says it on stderr: one sentence, then what is wrong where. */
export function reportFailure(error: unknown, json: boolean): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (json) process.stderr.write(`${JSON.stringify(toJson(error))}\n`);
  else process.stderr.write(toText(error));
  return exitCodeOf(error);
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError || error instanceof LapseInputError) return EXIT.usage;
  if (error instanceof RefusedError) return EXIT.refused;
  if (!(error instanceof LapseApiError)) return EXIT.failed;
  if (error.notFound) return EXIT.notFound;
  if (error.refused || [409, 412, 422].includes(error.status)) return EXIT.refused;
  return error.status === 400 ? EXIT.usage : EXIT.failed;
}

function toText(error: unknown): string {
  const { red, dim } = stderrColors();
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`${red("error")}: ${message}`];
  if (error instanceof LapseApiError) {
    // A single fault is the message already.
    const faults = error.errors.length > 1 ? error.errors : [];
    for (const { pointer, detail } of faults) lines.push(`  ${pointer || "/"}: ${detail}`);
    const trace = error.status >= 500 && error.traceId ? `, trace ${error.traceId}` : "";
    lines.push(dim(`  (${error.code}${trace})`));
  } else if (isUnexpected(error) && error instanceof Error && process.env.DEBUG) {
    lines.push(dim(error.stack ?? ""));
  }
  return `${lines.join("\n")}\n`;
}

function toJson(error: unknown): Record<string, unknown> {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof LapseApiError)) return { error: { code: "CLI_FAILED", detail: message } };
  const { code, status, errors, traceId } = error;
  return { error: { code, status, detail: message, errors, trace_id: traceId } };
}

function isUnexpected(error: unknown): boolean {
  return !(
    error instanceof UsageError ||
    error instanceof LapseInputError ||
    error instanceof FailedError ||
    error instanceof RefusedError ||
    error instanceof LapseUnreachableError
  );
}
