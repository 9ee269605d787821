import type { Delivery } from "@lapse/kit";
import {
  EnvironmentRetentionClearedSchema,
  EnvironmentRetentionSetSchema,
  TableRetentionClearedSchema,
  TableRetentionSetSchema,
  type TableRule as TableRuleMessage,
} from "@lapse/proto/events";
import { isCalendarDay, isDayCount, type TableRule } from "@lapse/rules";
import type { PolicyChange } from "../app/fold-policy.ts";
import type { EnvironmentRuleChange, TableRuleChange } from "../domain/changes.ts";
import {
  idField,
  messageField,
  textField,
  timeField,
  unusable,
  versionField,
} from "./event-fields.ts";

/**
 * Reads a message of `policy.>`; null for the rules of buckets and entities.
 *
 * @throws invalid `EVENT_UNREADABLE`, `EVENT_UNUSABLE`
 */
export function readPolicyMessage(delivery: Delivery): PolicyChange | null {
  switch (delivery.subject) {
    case "policy.table.set": {
      const message = delivery.decode(TableRetentionSetSchema);
      const rule = {
        ...ruleOf(messageField(message.rule, "rule")),
        setBy: textField(message.setBy, "set_by"),
        setAt: timeField(message.setAt, "set_at"),
      };
      return { table: tableChange(message, rule, delivery) };
    }
    case "policy.table.cleared":
      return { table: tableChange(delivery.decode(TableRetentionClearedSchema), null, delivery) };
    case "policy.environment.set": {
      const message = delivery.decode(EnvironmentRetentionSetSchema);
      const rule = {
        days: daysOf(message.days),
        setBy: textField(message.setBy, "set_by"),
        setAt: timeField(message.setAt, "set_at"),
      };
      return { environment: environmentChange(message, rule) };
    }
    case "policy.environment.cleared":
      return {
        environment: environmentChange(delivery.decode(EnvironmentRetentionClearedSchema), null),
      };
    default:
      return null;
  }
}

function tableChange(
  message: { readonly tableId: string; readonly retentionVersion: bigint },
  rule: TableRuleChange["rule"],
  { event }: Delivery,
): TableRuleChange {
  return {
    tableId: idField(message.tableId, "table_id"),
    rule,
    version: versionField(message.retentionVersion, "retention_version"),
    sequence: event.sequence ?? 0n,
  };
}

function environmentChange(
  message: { readonly environmentId: string; readonly policyVersion: bigint },
  rule: EnvironmentRuleChange["rule"],
): EnvironmentRuleChange {
  return {
    environmentId: idField(message.environmentId, "environment_id"),
    rule,
    version: versionField(message.policyVersion, "policy_version"),
  };
}

function ruleOf({ rule }: TableRuleMessage): TableRule {
  switch (rule.case) {
    case "days":
      return { kind: "days", days: daysOf(rule.value) };
    case "on":
      return { kind: "on", on: dayOf(rule.value) };
    case "never":
      return { kind: "never" };
    default:
      throw unusable("rule is empty");
  }
}

function daysOf(days: number): number {
  if (!isDayCount(days)) {
    throw unusable(`days is ${days}`);
  }
  return days;
}

function dayOf(day: string): string {
  // PostgreSQL has no year 0.
  if (!isCalendarDay(day) || day.startsWith("0000")) {
    throw unusable(`on is ${JSON.stringify(day)}`);
  }
  return day;
}
