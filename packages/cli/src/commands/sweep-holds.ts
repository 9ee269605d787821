import type { Command } from "@commander-js/extra-typings";
import type { SweepConfirmation } from "@lapse/sdk";
import { collect } from "../collect.ts";
import { UsageError } from "../exit.ts";
import { confirmedText, sweepHoldTable } from "../output/sweep-holds.ts";
import type { Run } from "../program.ts";

/** `sweep holds` and `sweep confirm` (T26). */
export function addSweepHolds(sweeps: Command, run: Run): void {
  sweeps
    .command("holds")
    .description("list what waits for somebody to say that it is meant")
    .option("--all", "also what was confirmed, or went away by itself")
    .action(({ all }) =>
      run(async ({ client, output }) => {
        const items = await collect(client.sweeps.holds(all ? { all } : {}));
        output.show({ items, next_cursor: null }, () => sweepHoldTable(items));
      }),
    );

  sweeps
    .command("confirm [hold]")
    .description("say that it is meant; the next sweep goes on with it")
    .option("--environment <name>", "the environment that is held back")
    .option("--clock", "that the database's clock is right, for sweeps and for purges")
    .action((hold, options) =>
      run(async ({ client, output }) => {
        const confirmed = await client.sweeps.confirm(confirmationOf(hold, options));
        output.show(confirmed, () => confirmedText(confirmed));
      }),
    );
}

/** What is confirmed: exactly one of a hold's id, an environment and the clock. */
function confirmationOf(
  hold: string | undefined,
  { environment, clock }: { readonly environment?: string; readonly clock?: true },
): SweepConfirmation {
  const given = [hold, environment, clock].filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw new UsageError(
      "Give exactly one of a hold's id, --environment and --clock. To see what is held: lapse sweep holds",
    );
  }
  if (hold !== undefined) return { hold_id: hold };
  return environment !== undefined ? { environment } : { clock: true };
}
