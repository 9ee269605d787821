import type { Queryable } from "@lapse/kit";
import type { TableRetention } from "@lapse/rules";
import { newestByKey, type TableRuleChange } from "../domain/changes.ts";
import type { Basis } from "./basis.ts";

/**
 * Puts the newest rule of each table in place of the one held; an older version changes nothing, and neither does
 * what was said before of the same version.
 */
export async function saveTableRules(
  tx: Queryable,
  changes: readonly TableRuleChange[],
  { daySeconds, signalFloorAt }: Basis,
): Promise<void> {
  const newest = newestByKey(changes, ({ tableId }) => tableId);
  if (newest.length === 0) {
    return;
  }
  const rules = newest.map(({ rule }) => rule);
  await tx.query({
    name: "save-table-rules",
    text: `
      insert into table_state as t (
        table_id, rule_kind, rule_days, rule_on, rule_set_by, rule_set_at, retention_version,
        retention_sequence, folded_at)
      select r.*, now()
      from unnest(
        $1::uuid[], $2::text[], $3::integer[], $4::date[], $5::text[], $6::timestamptz[], $7::bigint[],
        $10::bigint[]) as r
      on conflict (table_id) do update set
        rule_kind = excluded.rule_kind, rule_days = excluded.rule_days, rule_on = excluded.rule_on,
        rule_set_by = excluded.rule_set_by, rule_set_at = excluded.rule_set_at,
        retention_version = excluded.retention_version, retention_sequence = excluded.retention_sequence,
        folded_at = excluded.folded_at,
        own_due_at = own_due_at(
          excluded.rule_kind, excluded.rule_days, excluded.rule_on, t.last_activity_at,
          $8::timestamptz, $9::integer),
        expires_by = expires_by(
          t.state, t.kind, t.project_asset, excluded.rule_kind, excluded.rule_on, t.restored_at)
      where (excluded.retention_version, excluded.retention_sequence)
        > (t.retention_version, t.retention_sequence)`,
    values: [
      newest.map(({ tableId }) => tableId),
      rules.map((rule) => rule?.kind ?? null),
      rules.map(daysOf),
      rules.map(onOf),
      rules.map((rule) => rule?.setBy ?? null),
      rules.map((rule) => rule?.setAt ?? null),
      newest.map(({ version }) => version),
      signalFloorAt,
      daySeconds,
      newest.map(({ sequence }) => sequence),
    ],
  });
}

const daysOf = (rule: TableRetention | null): number | null =>
  rule?.kind === "days" ? rule.days : null;

const onOf = (rule: TableRetention | null): string | null => (rule?.kind === "on" ? rule.on : null);
