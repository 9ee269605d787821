import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../../packages/cli/bin/lapse.js", import.meta.url));

/** How a command of the CLI ended, and what it printed. */
export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the CLI as a person would, against the stack whose data is in `dir`. */
export function runCli(args: readonly string[], dir: string): Promise<CliRun> {
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith("LAPSE_"));
  const env = { ...Object.fromEntries(inherited), LAPSE_LOCAL__DIR: dir };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}
