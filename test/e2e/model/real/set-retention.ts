import type { CallOptions } from "@lapse/kit";
import type { Operation } from "../rules/operation.ts";
import { DAY_MS } from "../rules/span.ts";
import { ms } from "./instants.ts";
import type { Stack } from "./stack.ts";
import type { Answer } from "./subject.ts";

/** Of the day that is asked for, where one is. */
export const midnightOf = ({ rule }: Extract<Operation, { kind: "setRetention" }>): number =>
  (Math.floor(Date.now() / DAY_MS) + (rule.kind === "on" ? rule.inDays : 0)) * DAY_MS;

/** Sets a table's own rule. */
export async function setRetention(
  { policy }: Stack,
  operation: Extract<Operation, { kind: "setRetention" }>,
  { tableId, as }: { readonly tableId: string; readonly as: CallOptions },
): Promise<Answer> {
  const { rule } = operation;
  const midnight = midnightOf(operation);
  const asked =
    rule.kind === "days"
      ? { case: "days" as const, value: rule.days }
      : rule.kind === "on"
        ? { case: "on" as const, value: new Date(midnight).toISOString().slice(0, 10) }
        : { case: "never" as const, value: true };
  const set = await policy.setTableRetention({ tableId, rule: { rule: asked } }, as);
  return {
    midnight,
    retention: {
      shortened: set.shortened,
      lastActivityAt: ms(set.lastActivityAt),
      expiresAt: set.expiresAt ? ms(set.expiresAt) : null,
    },
  };
}
