import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TableRule as RuleMessage, TableRuleSchema } from "@lapse/proto/events";
import type { RetentionFields, TableRule } from "@lapse/rules";

/** A rule as the contract writes it. */
export function toRuleMessage(rule: TableRule): MessageInitShape<typeof TableRuleSchema> {
  switch (rule.kind) {
    case "days":
      return { rule: { case: "days", value: rule.days } };
    case "on":
      return { rule: { case: "on", value: rule.on } };
    case "never":
      return { rule: { case: "never", value: true } };
  }
}

/** A rule as it arrived, unchecked. The contract lets one field through at most. */
export function toRetentionFields(message: RuleMessage | undefined): RetentionFields {
  const given = message?.rule;
  return given === undefined || given.case === undefined ? {} : { [given.case]: given.value };
}
