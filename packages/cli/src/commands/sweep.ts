import { Command } from "@commander-js/extra-typings";
import { limitArgument } from "../arguments.ts";
import { FailedError } from "../exit.ts";
import { sweepFields, sweepRunText, sweepTable } from "../output/sweeps.ts";
import type { Run } from "../program.ts";
import { addSweepHolds } from "./sweep-holds.ts";

export function sweepCommand(run: Run): Command {
  const command = new Command("sweep").description("the runs that drop expired tables");

  command
    .command("run")
    .description("run one now")
    .option("--dry-run", "show what it would drop; change nothing")
    .action(({ dryRun }) =>
      run(async ({ client, output }) => {
        const result = await client.sweeps.run({ dryRun: dryRun ?? false });
        output.show(result, () => sweepRunText(result));
        if (result.sweep?.status === "held") {
          throw new FailedError(
            `The sweep was held back (${result.sweep.held_reason}); nothing was dropped. See: lapse sweep holds, lapse ops status`,
          );
        }
      }),
    );

  command
    .command("list")
    .description("list sweeps, newest first")
    .option("--limit <n>", "how many", limitArgument, 20)
    .action(({ limit }) =>
      run(async ({ client, output }) => {
        const page = await client.sweeps.list().page({ limit });
        output.show(page, () => sweepTable(page.items));
      }),
    );

  command
    .command("show <id>")
    .description("show a sweep and what became of each table")
    .action((id) =>
      run(async ({ client, output }) => {
        const sweep = await client.sweeps.get(id);
        output.show(sweep, () => sweepFields(sweep));
      }),
    );

  command
    .command("pause")
    .description("run no scheduled sweep until resumed: nothing expires")
    .option("--reason <text>", "why", "")
    .action(({ reason }) =>
      run(async ({ client, output }) => {
        await client.sweeps.pause(reason);
        output.show(
          { paused: true },
          () => "Sweeps are paused: nothing expires until `lapse sweep resume`.",
        );
      }),
    );

  command
    .command("resume")
    .description("let sweeps run again")
    .action(() =>
      run(async ({ client, output }) => {
        await client.sweeps.resume();
        output.show({ paused: false }, () => "Sweeps run again.");
      }),
    );

  addSweepHolds(command as unknown as Command, run);
  return command as unknown as Command;
}
