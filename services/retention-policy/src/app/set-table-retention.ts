import type { MessageShape } from "@bufbuild/protobuf";
import { type CallContext, LapseError, withTransaction } from "@lapse/kit";
import { SetTableRetentionResponseSchema } from "@lapse/proto/policy";
import { parseTableRule, type RetentionFields, type TableRule } from "@lapse/rules";
import type { PolicyDeps } from "../deps.ts";
import { refusalToSet } from "../domain/refusal.ts";
import type { Table } from "../domain/table.ts";
import { toSetTableRetentionResponse } from "../messages/answers.ts";
import type { TableKey } from "../store/table-retention.ts";
import { answeredBefore, answerOnce } from "./answer-once.ts";
import { changedMeanwhile, onceMoreIfChanged } from "./changed-meanwhile.ts";
import { checkRule } from "./check-rule.ts";
import { commitTableRetention } from "./commit-table-retention.ts";
import { judgeTableRetention } from "./judge-table-retention.ts";
import { settleTable } from "./settle-table-retention.ts";

/** What the call is answered with. */
type Answer = MessageShape<typeof SetTableRetentionResponseSchema>;

/** A table's retention to be set; the fields as they came. */
export interface SetTableRetention {
  readonly tableId: string;
  readonly fields: RetentionFields;
}

/**
 * Sets a table's own rule (T3–T6, T10, T19, T22): judges, touches the table in the catalog, commits for that
 * touch. From the touch on no sweep drops the table by an older rule; where the commit does not follow, the
 * sweep that notices settles the rule in force.
 *
 * @throws invalid `RETENTION_INVALID`; not_found `TABLE_NOT_FOUND`; precondition `NOT_MANAGED`,
 * `ENVIRONMENT_PROTECTED`; denied `RIGHT_MISSING`; unavailable `EVALUATOR_BEHIND`; conflict
 * `RETENTION_CHANGED_MEANWHILE`, where a second attempt failed likewise; precondition `IDEMPOTENCY_KEY_REUSED`.
 */
export async function setTableRetention(
  deps: PolicyDeps,
  { tableId, fields }: SetTableRetention,
  call: CallContext,
): Promise<Answer> {
  const before = await answeredBefore(deps.pool, call, SetTableRetentionResponseSchema);
  if (before !== null) {
    return before;
  }
  const rule = checkRule(parseTableRule(fields, await deps.clock.now()));
  return onceMoreIfChanged(() => attempt(deps, tableId, rule, call));
}

async function attempt(
  deps: PolicyDeps,
  tableId: string,
  rule: TableRule,
  call: CallContext,
): Promise<Answer> {
  const table = await deps.catalog.getTable(tableId, call);
  refuseUnlessSettable(table, rule);
  const judgement = await judgeTableRetention(deps, table, rule, call);
  const touched = await deps.catalog.touchTable(tableId, call);
  // What forbids it, or what it was judged on, may have come between.
  refuseUnlessSettable(touched, rule);
  if (isKeptOtherwise(table, touched)) {
    throw changedMeanwhile(touched.name);
  }
  return withTransaction(deps.pool, (tx) =>
    answerOnce(tx, call, SetTableRetentionResponseSchema, {
      work: async () =>
        toSetTableRetentionResponse(
          await commitTableRetention(tx, deps, { touched, rule, judgement }, call),
        ),
      repeated: () => settleTable(tx, keyOf(touched), touched.retentionVersion),
    }),
  );
}

/** Whether what keeps the table from expiring by any rule is not what it was: then other changes take the right to drop. */
function isKeptOtherwise(judged: Table, touched: Table): boolean {
  return (
    judged.projectAsset !== touched.projectAsset ||
    judged.environmentProtected !== touched.environmentProtected
  );
}

function refuseUnlessSettable(table: Table, rule: TableRule): void {
  const refusal = refusalToSet(table, rule);
  if (refusal !== null) {
    const kind = refusal.reason === "TABLE_NOT_FOUND" ? "not_found" : "precondition";
    throw new LapseError({ ...refusal, kind, details: { table_id: table.id } });
  }
}

function keyOf({ id: tableId, tenant, environmentId }: Table): TableKey {
  return { tableId, tenant, environmentId };
}
