import { type EnvironmentRetention, effectiveRule, type TableRetention } from "@lapse/rules";
import type { Table } from "./table.ts";

/** The rule that a table follows, as the audit record names it (T32). */
export interface RuleInForce {
  readonly source: "table" | "environment" | null;
  readonly days: number | null;
  readonly on: string | null;
  readonly never: boolean;
}

/** Which rule the table follows by its own retention and its environment's (T9, T28). */
export function ruleInForce(
  { kind, restoredAt }: Pick<Table, "kind" | "restoredAt">,
  tableRule: TableRetention | null,
  environmentRule: EnvironmentRetention | null,
): RuleInForce {
  const effective = effectiveRule({ kind, restoredAt, tableRule, environmentRule });
  return {
    source: effective?.source ?? null,
    days: effective?.rule.kind === "days" ? effective.rule.days : null,
    on: effective?.rule.kind === "on" ? effective.rule.on : null,
    never: effective?.rule.kind === "never",
  };
}
