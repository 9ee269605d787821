import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EnvironmentRetentionSchema, TableRetentionSchema } from "@lapse/proto/policy";
import type { StoredEnvironmentRetention } from "../store/environment-retention.ts";
import type { StoredTableRetention } from "../store/table-retention.ts";
import { toRuleMessage } from "./rule.ts";

/** A table's own rule as the contract writes it; undefined where it has none. */
export function toTableRetentionMessage({
  tableId,
  rule,
  version,
}: StoredTableRetention): MessageInitShape<typeof TableRetentionSchema> | undefined {
  return rule === null
    ? undefined
    : {
        tableId,
        rule: toRuleMessage(rule),
        setBy: rule.setBy,
        setAt: timestampFromDate(rule.setAt),
        retentionVersion: version,
      };
}

/** An environment's setting as the contract writes it; undefined where nobody has ever made one. */
export function toEnvironmentRetentionMessage({
  environmentId,
  rule,
  version,
}: StoredEnvironmentRetention): MessageInitShape<typeof EnvironmentRetentionSchema> | undefined {
  return rule === null
    ? undefined
    : {
        environmentId,
        ...(rule.days !== null && { days: rule.days }),
        setBy: rule.setBy,
        setAt: timestampFromDate(rule.setAt),
        policyVersion: version,
      };
}
