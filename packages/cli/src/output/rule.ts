import type { Retention } from "@lapse/sdk";

/** The rule in words, and whether the table or its environment sets it (T2). */
export function ruleText(retention: Retention): string | null {
  if (retention.source === null) return null;
  const from = retention.source === "table" ? "set on the table" : "set on its environment";
  if (retention.never) return `never (${from})`;
  if (retention.on) return `on ${retention.on}, from midnight UTC (${from})`;
  const unit = retention.days === 1 ? "day" : "days";
  return `${retention.days} ${unit} after its last activity (${from})`;
}
