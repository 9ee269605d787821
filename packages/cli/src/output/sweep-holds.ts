import type { SweepConfirmed, SweepHold } from "@lapse/sdk";
import { table } from "./print.ts";
import { distance, instantText, stamp } from "./time.ts";

export function sweepHoldTable(holds: readonly SweepHold[]): string {
  if (holds.length === 0) return "Nothing is held back.";
  return table(
    ["kind", "holds", "why", "since", "state", "to go on"],
    holds.map((hold) => [
      hold.kind,
      hold.environment ?? "everything",
      whyText(hold),
      instantText(hold.raised_at),
      stateText(hold),
      hold.confirmed_by || !hold.id ? "" : `lapse sweep confirm ${hold.id}`,
    ]),
  );
}

export function confirmedText({ holds, purges }: SweepConfirmed): string {
  const what = [
    ...holds.map((hold) => (hold.environment ? `environment ${hold.environment}` : "the clock")),
    ...(purges ? ["purges"] : []),
  ];
  if (what.length === 0) return "Nothing was held back.";
  return `Confirmed: ${what.join(", ")}. The next sweep goes on with it; to go on now: lapse sweep run`;
}

function whyText(hold: SweepHold): string {
  if (hold.kind === "breaker") {
    const share = hold.share === null ? "" : `, more than ${Math.round(hold.share * 100)} %`;
    return `${hold.due ?? "?"} of ${hold.tables ?? "?"} tables are due${share}`;
  }
  if (!hold.last_seen_at || !hold.now) return "the database's clock jumped";
  const jump = distance(hold.now, hold.last_seen_at)
    .replace(/^in (.*)$/, "$1 ahead")
    .replace(/ ago$/, " back");
  return `the database's clock went from ${stamp(hold.last_seen_at)} to ${stamp(hold.now)} (${jump})`;
}

function stateText(hold: SweepHold): string {
  if (!hold.id) return "would hold";
  if (!hold.confirmed_by) return "holds";
  return `confirmed by ${hold.confirmed_by}${hold.confirmed_at ? ` ${instantText(hold.confirmed_at)}` : ""}`;
}
