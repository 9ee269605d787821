import { type CallContext, hasRight, unavailable } from "@lapse/kit";
import type { TableRule } from "@lapse/rules";
import type { PolicyDeps } from "../deps.ts";
import { retentionOf } from "../domain/environment-setting.ts";
import { type HeldRights, rightFor, rightWhateverBefore } from "../domain/right.ts";
import { type RuleInForce, ruleInForce } from "../domain/rule-in-force.ts";
import type { Table } from "../domain/table.ts";
import { lastActivityAfter, tableExpiry } from "../domain/table-expiry.ts";
import type { FormerExpiry } from "../peers/evaluator.ts";
import { findEnvironmentRetention } from "../store/environment-retention.ts";
import { findTableRetention } from "../store/table-retention.ts";
import { denyCall } from "./deny-call.ts";

/** What a change of a table's retention was allowed on, and what it replaces. */
export interface Judgement {
  /** Stored versions it was judged on; they must still stand when it commits. */
  readonly tableVersion: bigint;
  readonly environmentVersion: bigint;
  readonly previous: RuleInForce;
  /** Null: the evaluator did not answer. */
  readonly former: FormerExpiry | null;
}

const NEVER_USED: FormerExpiry = { lastActivityAt: null, expiresAt: null };

/**
 * Decides whether the caller may set `rule` on `table` (T6), before anything is touched: a refused call is no
 * activity.
 *
 * @throws denied `RIGHT_MISSING`, recorded; unavailable `EVALUATOR_BEHIND` where the answer depends on when the
 * table expires now and the evaluator cannot say.
 */
export async function judgeTableRetention(
  deps: PolicyDeps,
  table: Table,
  rule: TableRule,
  call: CallContext,
): Promise<Judgement> {
  const held = heldRights(table, call);
  const certain = rightWhateverBefore(rule, held);
  if (certain !== null && !held[certain]) {
    return denyCall(deps, call, denial(table, certain));
  }
  const [stored, environment] = await Promise.all([
    findTableRetention(deps.pool, table.id),
    findEnvironmentRetention(deps.pool, table.environmentId),
  ]);
  const tableVersion = stored?.version ?? 0n;
  const environmentVersion = environment?.version ?? 0n;
  const versions = {
    changeVersion: table.changeVersion,
    retentionVersion: tableVersion,
    policyVersion: environmentVersion,
  };
  // The evaluator hears of a table with its first commit; until then nothing makes it expire.
  const former =
    table.state === "staged"
      ? NEVER_USED
      : await deps.evaluator.expiryNow(table.id, versions, call);
  const environmentRule = retentionOf(environment?.rule ?? null);
  if (certain === null) {
    if (former === null) {
      throw unavailable(
        "EVALUATOR_BEHIND",
        `whether this makes ${table.name} expire sooner cannot be said at the moment; repeat the call`,
      );
    }
    const now = await deps.clock.now();
    const { expiresAt: after } = tableExpiry(
      table,
      {
        tableRule: { ...rule, setBy: call.principal.subject, setAt: now },
        environmentRule,
        dayLength: deps.dayLength,
      },
      lastActivityAfter(former.lastActivityAt, now),
    );
    const right = rightFor({ before: former.expiresAt, after });
    if (!held[right]) {
      return denyCall(deps, call, denial(table, right));
    }
  }
  const previous = ruleInForce(table, stored?.rule ?? null, environmentRule);
  return { tableVersion, environmentVersion, previous, former };
}

function heldRights({ owner, rights }: Table, { principal }: CallContext): HeldRights {
  return {
    "table.write": hasRight(principal, "table.write", { owner, rights }),
    "table.drop": hasRight(principal, "table.drop", { owner, rights }),
  };
}

function denial(table: Table, right: keyof HeldRights) {
  const does = right === "table.drop" ? "expire sooner, or at all," : "expire later, or never,";
  return {
    right,
    tenant: table.tenant,
    resource: { kind: "table", id: table.id, name: table.name, environment: table.environment },
    message: `making ${table.name} ${does} takes the right ${right}, which you lack; ask its owner or an admin`,
  };
}
