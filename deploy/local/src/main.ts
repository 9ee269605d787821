import { inspect } from "node:util";
import { runInForeground } from "./foreground.ts";
import { LocalError } from "./local-error.ts";
import { nodeFault } from "./node-version.ts";
import { loadSampleData } from "./sample-data.ts";
import { readSettings } from "./settings.ts";
import type { StackAccess } from "./stack.ts";

async function main(): Promise<void> {
  const fault = nodeFault(process.versions.node);
  if (fault !== undefined) throw new LocalError(fault);
  const settings = readSettings(process.env, process.cwd());
  const report = (line: string) => void process.stderr.write(`${line}\n`);
  const wantsSamples = process.argv.includes("--sample-data");
  await runInForeground({ settings, env: process.env, report }, async (access) => {
    if (wantsSamples) await loadSampleData(settings.dir, report);
    welcome(access);
  });
}

function welcome({ url, natsUrl, cliFile }: StackAccess): void {
  process.stdout.write(`ready

Console   ${url}/
API       ${url}/docs
NATS      ${natsUrl}
CLI       npx lapse env list   (from this folder or one below; elsewhere set LAPSE_LOCAL__DIR)
Token     in ${cliFile}
Beside it: pids.json, logs/ and all data. Ctrl-C stops everything.
`);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const text = error instanceof LocalError ? error.message : inspect(error);
  process.stderr.write(`lapse: ${text}\n`);
  process.exit(1);
}
