import { appendDecision, type CallContext, databaseClock, type Queryable } from "@lapse/kit";
import { isShortened, type TableRetention, type TableRule } from "@lapse/rules";
import type { PolicyDeps } from "../deps.ts";
import { retentionOf } from "../domain/environment-setting.ts";
import type { RuleInForce } from "../domain/rule-in-force.ts";
import type { Table } from "../domain/table.ts";
import { lastActivityAfter, tableExpiry } from "../domain/table-expiry.ts";
import { commit } from "../domain/version.ts";
import type { TableRetentionSet } from "../messages/answers.ts";
import type { FormerExpiry } from "../peers/evaluator.ts";
import { SERVICE } from "../service-name.ts";
import { shareEnvironmentRetention } from "../store/environment-retention.ts";
import { lockTableRetention } from "../store/table-retention.ts";
import { changedMeanwhile } from "./changed-meanwhile.ts";
import type { Judgement } from "./judge-table-retention.ts";
import { stampTable } from "./stamp-table.ts";

/**
 * Commits a rule that was judged, for a table that was touched since.
 *
 * @throws conflict `RETENTION_CHANGED_MEANWHILE`: a newer touch, a settlement or another rule came between.
 */
export async function commitTableRetention(
  tx: Queryable,
  { dayLength }: Pick<PolicyDeps, "dayLength">,
  { touched, rule, judgement }: { touched: Table; rule: TableRule; judgement: Judgement },
  call: CallContext,
): Promise<TableRetentionSet> {
  const { id: tableId, tenant, environmentId } = touched;
  const locked = await lockTableRetention(tx, { tableId, tenant, environmentId });
  const environment = await shareEnvironmentRetention(tx, environmentId);
  const now = await databaseClock(tx).now();
  const tableRule: TableRetention = { ...rule, setBy: call.principal.subject, setAt: now };
  const next = commit(locked, {
    rule: tableRule,
    touch: touched.retentionVersion,
    judgedOn: judgement.tableVersion,
  });
  if (next === null || (environment?.version ?? 0n) !== judgement.environmentVersion) {
    throw changedMeanwhile(touched.name);
  }
  const stored = await stampTable(tx, locked, next, "settled");
  const environmentRule = retentionOf(environment?.rule ?? null);
  const { former, previous } = judgement;
  const lastActivityAt = lastActivityAfter(former?.lastActivityAt ?? null, touched.lastChangedAt);
  const expiry = tableExpiry(touched, { tableRule, environmentRule, dayLength }, lastActivityAt);
  const shortened = isSooner(former, expiry.expiresAt);
  await appendDecision(
    tx,
    {
      service: SERVICE,
      tenant,
      actor: call.principal.subject,
      type: rule.kind === "never" ? "TABLE_RETENTION_CLEARED" : "TABLE_RETENTION_SET",
      resource: {
        kind: "table",
        id: tableId,
        name: touched.name,
        environment: touched.environment,
      },
      outcome: "done",
      reason: "request",
      details: {
        table_id: tableId,
        days: expiry.days,
        on: expiry.on,
        shortened,
        previous: previousDetails(previous, former),
        expires_at: expiry.expiresAt?.toISOString() ?? null,
      },
      traceparent: call.traceparent,
    },
    now,
  );
  return { stored, expiry, lastActivityAt, shortened };
}

/** Null where only the evaluator knows. What does not expire now expires no sooner, whenever it did before. */
function isSooner(former: FormerExpiry | null, after: Date | null): boolean | null {
  if (after === null) {
    return false;
  }
  return former === null ? null : isShortened(former.expiresAt, after);
}

/** `expires_at` is left out where the evaluator did not say, and null where the table did not expire. */
function previousDetails(previous: RuleInForce, former: FormerExpiry | null) {
  return {
    ...previous,
    ...(former !== null && { expires_at: former.expiresAt?.toISOString() ?? null }),
  };
}
