import { Command } from "@commander-js/extra-typings";
import type { ParkedMessage, SystemStatus } from "@lapse/sdk";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import { FailedError } from "../exit.ts";
import { fields, table } from "../output/print.ts";
import { instantText } from "../output/time.ts";
import { quantity } from "../output/words.ts";
import type { Run } from "../program.ts";

export function opsCommand(run: Run): Command {
  const command = new Command("ops").description("for operators");

  command
    .command("status")
    .description("how each service does, how far events are read, what is unsent")
    .action(() =>
      run(async ({ client, output }) => {
        const status = await client.status();
        output.show(status, () => statusText(status));
        const away = status.services.filter((service) => !service.ok);
        if (away.length > 0) {
          throw new FailedError(`Not well: ${away.map((service) => service.name).join(", ")}.`);
        }
      }),
    );

  const parked = command.command("parked").description("messages set aside because they failed");
  parked
    .command("list")
    .option("--stream <name>", "only from this stream, e.g. ACTIVITY")
    .description("list them, oldest first")
    .action(({ stream }) =>
      run(async ({ client, output }) => {
        const only = stream === undefined ? {} : { stream };
        const items = await collect(client.parked.list(only));
        output.show({ items, next_cursor: null }, () => parkedTable(items));
      }),
    );
  parked
    .command("retry <id>")
    .description("send one again to where it came from")
    .action((id) =>
      run(async ({ client, output }) => {
        await client.parked.retry(id);
        output.show({ id, retried: true }, () => `Sent ${id} again.`);
      }),
    );
  parked
    .command("discard <id>")
    .description("delete one for good")
    .option("--yes", "do not ask")
    .action((id, { yes }) =>
      run(async ({ client, output }) => {
        await confirm(`Message ${id} is deleted for good; what it says is never counted.`, yes);
        await client.parked.discard(id);
        output.show({ id, discarded: true }, () => `Discarded ${id}.`);
      }),
    );
  return command as unknown as Command;
}

function statusText(status: SystemStatus): string {
  const services = table(
    ["service", "state", ""],
    status.services.map((service) => [service.name, service.ok ? "ok" : "NOT OK", service.detail]),
  );
  const outboxes = table(
    ["outbox", "unsent", "oldest"],
    status.outboxes.map((outbox) => [
      outbox.service,
      String(outbox.unsent),
      outbox.oldest_unsent_at ? instantText(outbox.oldest_unsent_at) : "–",
    ]),
  );
  if (!status.evaluator) return `${services}\n\n${outboxes}`;
  const { folds, sweeps } = status.evaluator;
  const streams = table(
    ["stream", "folded", "last", "missing"],
    folds.map((fold) => [
      fold.stream,
      String(fold.folded),
      fold.broker_reachable ? String(fold.last) : "NATS cannot be reached",
      String(fold.missing),
    ]),
  );
  const sweep = fields([
    ["sweeps", sweepsText(sweeps)],
    ["next", sweeps.next_at ? instantText(sweeps.next_at) : null],
    ["last", lastText(sweeps.last)],
    ["held back", heldText(sweeps.holds)],
    ["scheduler", sweeps.scheduler],
    ["purges", purgesText(status.purges)],
  ]);
  return [services, streams, outboxes, sweep].join("\n\n");
}

type Sweeps = NonNullable<SystemStatus["evaluator"]>["sweeps"];

function sweepsText(sweeps: Sweeps): string {
  if (sweeps.paused) {
    const why = sweeps.pause_reason ? `: ${sweeps.pause_reason}` : "";
    return `paused by ${sweeps.paused_by}${why}`;
  }
  return sweeps.interval_seconds === 0
    ? "off: nothing expires"
    : `every ${sweeps.interval_seconds} s`;
}

function heldText(holds: Sweeps["holds"]): string | null {
  if (!holds || holds.length === 0) return null;
  const what = holds.map((hold) => hold.environment ?? "everything, by the clock");
  return `${what.join(", ")}. See: lapse sweep holds`;
}

function purgesText(purges: SystemStatus["purges"]): string | null {
  if (!purges) return null;
  const waiting = `${quantity(purges.waiting, "table")} to be deleted`;
  return purges.clock_hold && !purges.clock_hold.confirmed_by
    ? `wait for the clock to be confirmed (lapse sweep confirm --clock), ${waiting}`
    : waiting;
}

function lastText(sweep: Sweeps["last"]): string | null {
  if (!sweep) return null;
  const held = sweep.held_reason ? ` (${sweep.held_reason})` : "";
  return `${sweep.status}${held} ${instantText(sweep.started_at)}, ${sweep.dropped} dropped`;
}

function parkedTable(items: readonly ParkedMessage[]): string {
  if (items.length === 0) return "Nothing is parked.";
  return table(
    ["id", "subject", "parked", "reason"],
    items.map((item) => [item.id, item.subject, instantText(item.parked_at), item.reason]),
  );
}
