import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { appendEvent, type Queryable, SUBJECTS } from "@lapse/kit";
import { TableRetentionClearedSchema, TableRetentionSetSchema } from "@lapse/proto/events";
import { toRuleMessage } from "../messages/rule.ts";
import type { StoredTableRetention } from "../store/table-retention.ts";

/** Why a table has no rule of its own. */
export type ClearedReason = "restored" | "settled" | "purged";

/**
 * Says what a table's own rule is as of its version: `policy.table.set`, or where it has none
 * `policy.table.cleared` with the reason. Sent once the transaction has committed.
 */
export async function publishTableRetention(
  tx: Queryable,
  { tableId, tenant, environmentId, rule, version }: StoredTableRetention,
  clearedReason: ClearedReason,
): Promise<void> {
  const about = { tableId, tenant, environmentId, retentionVersion: version };
  if (rule === null) {
    await appendEvent(tx, {
      stream: "POLICY",
      subject: SUBJECTS.policy.table.cleared,
      schema: TableRetentionClearedSchema,
      message: { ...about, reason: clearedReason },
      subjectKey: tableId,
    });
    return;
  }
  await appendEvent(tx, {
    stream: "POLICY",
    subject: SUBJECTS.policy.table.set,
    type: TableRetentionSetSchema.typeName,
    schema: TableRetentionSetSchema,
    message: {
      ...about,
      rule: toRuleMessage(rule),
      setBy: rule.setBy,
      setAt: timestampFromDate(rule.setAt),
    },
    subjectKey: tableId,
  });
}
