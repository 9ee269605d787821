import type { Queryable } from "@lapse/kit";
import type { EnvironmentRetention, TableKind, TableRetention } from "@lapse/rules";
import { type ActivityKind, isLater } from "../domain/activity.ts";
import type { TableFacts, TableState } from "../domain/table-facts.ts";

/** A row of {@link FACTS}. */
export interface FactsRow extends Record<string, unknown> {
  table_id: string;
  tenant: string;
  environment_id: string | null;
  environment: string | null;
  namespace: string;
  name: string;
  owner: string;
  kind: TableKind | null;
  state: TableState;
  project_asset: boolean;
  protected: boolean | null;
  restored_at: Date | null;
  last_activity_at: Date | null;
  last_activity_kind: ActivityKind | null;
  last_read_at: Date | null;
  rule_kind: "days" | "on" | "never" | null;
  rule_days: number | null;
  rule_on: string | null;
  rule_set_by: string | null;
  rule_set_at: Date | null;
  retention_days: number | null;
  retention_set_by: string | null;
  retention_set_at: Date | null;
  change_version: bigint;
  retention_version: bigint;
  policy_version: bigint | null;
  signal_floor_at: Date | null;
  day_seconds: number;
}

/** What is read of a table `t`, its environment `e` (which may be missing) and the basis `b`. */
export const FACTS = `
  t.table_id, t.tenant, t.environment_id, e.name as environment, t.namespace, t.name, t.owner, t.kind, t.state,
  t.project_asset, e.protected or e.deleted as protected, t.restored_at, t.last_activity_at, t.last_activity_kind,
  (
    select d.last_read_at from table_read_day d
    where d.table_id = t.table_id order by d.day desc, d.last_read_at desc limit 1
  ) as last_read_at, t.rule_kind, t.rule_days, t.rule_on, t.rule_set_by, t.rule_set_at,
  e.retention_days, e.retention_set_by, e.retention_set_at,
  t.change_version, t.retention_version, e.policy_version, b.signal_floor_at, b.day_seconds`;

/** Everything known about these tables, as of one snapshot; a table nobody has spoken of is left out. */
export async function loadTableFacts(
  db: Queryable,
  tableIds: readonly string[],
): Promise<readonly TableFacts[]> {
  const { rows } = await db.query<FactsRow>({
    name: "load-table-facts",
    text: `
      select ${FACTS}
      from table_state t
      left join environment_state e on e.environment_id = t.environment_id
      cross join evaluation_basis b
      where t.table_id = any($1::uuid[])`,
    values: [tableIds],
  });
  return rows.map(toTableFacts);
}

/** Whether somebody owns a live table of the environment. */
export async function ownsTableIn(
  db: Queryable,
  environmentId: string,
  owner: string,
): Promise<boolean> {
  const { rows } = await db.query<{ owns: boolean }>(
    `select exists (
       select from table_state where environment_id = $1 and owner = $2 and state = 'live') as owns`,
    [environmentId, owner],
  );
  return rows[0]?.owns ?? false;
}

/** The facts in a row of {@link FACTS}. An environment nobody has spoken of, or that is gone, keeps its tables. */
export function toTableFacts(row: FactsRow): TableFacts {
  return {
    tableId: row.table_id,
    tenant: row.tenant,
    environmentId: row.environment_id,
    environment: row.environment ?? "",
    namespace: row.namespace,
    name: row.name,
    owner: row.owner,
    kind: row.kind,
    state: row.state,
    projectAsset: row.project_asset,
    environmentProtected: row.protected ?? true,
    restoredAt: row.restored_at,
    ...lastActivity(row),
    tableRule: tableRule(row),
    environmentRule: environmentRule(row),
    changeVersion: row.change_version,
    retentionVersion: row.retention_version,
    policyVersion: row.policy_version ?? 0n,
    signalFloorAt: row.signal_floor_at,
    daySeconds: row.day_seconds,
  };
}

/** The row of a table may not have been told of its last read yet; then the history of its reads knows more. */
function lastActivity({
  last_activity_at: at,
  last_activity_kind: kind,
  last_read_at: readAt,
}: FactsRow): Pick<TableFacts, "lastActivityAt" | "lastActivityKind"> {
  return readAt !== null && (at === null || kind === null || isLater(+readAt, "read", +at, kind))
    ? { lastActivityAt: readAt, lastActivityKind: "read" }
    : { lastActivityAt: at, lastActivityKind: kind };
}

function tableRule(row: FactsRow): TableRetention | null {
  const { rule_kind, rule_days, rule_on, rule_set_by, rule_set_at } = row;
  if (rule_kind === null || rule_set_by === null || rule_set_at === null) {
    return null;
  }
  const setting = { setBy: rule_set_by, setAt: rule_set_at };
  if (rule_kind === "days" && rule_days !== null) {
    return { kind: "days", days: rule_days, ...setting };
  }
  if (rule_kind === "on" && rule_on !== null) {
    return { kind: "on", on: rule_on, ...setting };
  }
  return { kind: "never", ...setting };
}

function environmentRule(row: FactsRow): EnvironmentRetention | null {
  const { retention_days, retention_set_by, retention_set_at } = row;
  return retention_days === null || retention_set_by === null || retention_set_at === null
    ? null
    : { days: retention_days, setBy: retention_set_by, setAt: retention_set_at };
}
