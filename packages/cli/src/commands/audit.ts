import { Command } from "@commander-js/extra-typings";
import type { DecisionFilter } from "@lapse/sdk";
import { instantArgument, limitArgument } from "../arguments.ts";
import { FailedError } from "../exit.ts";
import { decisionLine, decisionTable } from "../output/decisions.ts";
import { fields } from "../output/print.ts";
import type { Run } from "../program.ts";

export function auditCommand(run: Run): Command {
  const command = new Command("audit").description("the log of decisions");

  withFilter(command.command("list"))
    .description("list decisions, newest first")
    .option("--limit <n>", "how many", limitArgument, 50)
    .action(({ limit, ...filter }) =>
      run(async ({ client, output }) => {
        const page = await client.audit.list(filterOf(filter)).page({ limit });
        output.show(page, () => decisionTable(page.items));
      }),
    );

  withFilter(command.command("tail"))
    .description("show decisions as they are taken, until Ctrl-C")
    .action((filter) =>
      run(async ({ client, output }) => {
        const stop = new AbortController();
        process.once("SIGINT", () => stop.abort());
        const { signal } = stop;
        try {
          for await (const record of client.audit.stream(filterOf(filter), { signal })) {
            process.stdout.write(
              `${output.json ? JSON.stringify(record) : decisionLine(record)}\n`,
            );
          }
        } catch (error) {
          if (!stop.signal.aborted) throw error;
        }
      }),
    );

  command
    .command("verify")
    .description("recompute the whole chain of hashes")
    .action(() =>
      run(async ({ client, output }) => {
        const result = await client.audit.verify();
        output.show(result, () =>
          fields([
            ["chain", result.ok ? "whole" : "BROKEN"],
            ["records", String(result.records)],
            ["head", result.head_hash],
            ["missing", gapsText(result.gaps)],
          ]),
        );
        if (!result.ok) {
          throw new FailedError(
            `The chain does not hold at record ${result.broken_at_seq}: ${result.fault}`,
          );
        }
      }),
    );

  withFilter(command.command("export"))
    .description("write every decision as one JSON object a line, newest first")
    .action((filter) =>
      run(async ({ client }) => {
        for await (const page of client.audit.list(filterOf(filter)).pages({ limit: 1000 })) {
          for (const record of page.items) await writeLine(JSON.stringify(record));
        }
      }),
    );
  return command as unknown as Command;
}

function withFilter(command: Command) {
  return command
    .option("--type <TYPE>", "e.g. TABLE_DROPPED")
    .option("--resource <id or name>", "what it was about, e.g. bronze.trial")
    .option("--actor <subject>", "who")
    .option("--since <time>", "RFC 3339, e.g. 2026-11-30T00:00:00Z", instantArgument)
    .option("--until <time>", "RFC 3339", instantArgument)
    .option("--run <id>", "of this sweep");
}

function filterOf(options: {
  type?: string;
  resource?: string;
  actor?: string;
  since?: Date;
  until?: Date;
  run?: string;
}): DecisionFilter {
  const { run: run_id, ...rest } = options;
  return run_id === undefined ? rest : { ...rest, run_id };
}

function gapsText(gaps: readonly { source: string; from: number; to: number }[]): string | null {
  if (gaps.length === 0) return null;
  return gaps.map((gap) => `${gap.source} ${gap.from}–${gap.to}, being asked for again`).join("; ");
}

/** Waits for the reader, so that a long export does not pile up in memory. */
function writeLine(line: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.stdout.write(`${line}\n`)) resolve();
    else process.stdout.once("drain", resolve);
  });
}
