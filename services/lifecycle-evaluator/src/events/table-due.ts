import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type OutboxEvent, SUBJECTS } from "@lapse/kit";
import { TableDueSchema, type TableRuleSchema } from "@lapse/proto/events";
import type { DueRetention } from "../domain/due-retention.ts";
import type { TableFacts } from "../domain/table-facts.ts";

/**
 * `expiry.table.due`: what a sweep saw of a table, so that the catalog can tell whether anything has moved
 * since.
 */
export function tableDueEvent(
  facts: TableFacts,
  retention: DueRetention,
  { sweepId, issuedAt }: { readonly sweepId: string; readonly issuedAt: Date },
): OutboxEvent<typeof TableDueSchema> {
  return {
    stream: "EXPIRY",
    subject: SUBJECTS.expiry.tableDue,
    schema: TableDueSchema,
    subjectKey: facts.tableId,
    message: {
      tableId: facts.tableId,
      tenant: facts.tenant,
      environmentId: facts.environmentId ?? "",
      sweepId,
      retention: {
        source: retention.source,
        rule: ruleMessage(retention),
        setBy: retention.setBy,
        setAt: timestampFromDate(retention.setAt),
        lastActivityAt: timestampFromDate(retention.lastActivityAt),
        expiredAt: timestampFromDate(retention.expiredAt),
      },
      changeVersion: facts.changeVersion,
      retentionVersion: facts.retentionVersion,
      policyVersion: facts.policyVersion,
      issuedAt: timestampFromDate(issuedAt),
    },
  };
}

/** A rule as it travels. */
export function ruleMessage({
  days,
  on,
  never,
}: {
  readonly days: number | null;
  readonly on: string | null;
  readonly never?: boolean;
}): MessageInitShape<typeof TableRuleSchema> {
  if (days !== null) {
    return { rule: { case: "days", value: days } };
  }
  if (on !== null) {
    return { rule: { case: "on", value: on } };
  }
  return never === true ? { rule: { case: "never", value: true } } : {};
}
