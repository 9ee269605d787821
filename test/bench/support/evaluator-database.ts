import { join } from "node:path";
import { createPool, type Pool } from "@lapse/kit";
import { postgresAdminUrl, testDatabase } from "@lapse/test-kit";
import { log } from "./log.ts";

/** A database of the lifecycle evaluator. */
export interface EvaluatorDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly close: () => Promise<void>;
}

const MIGRATIONS = join(import.meta.dirname, "../../../services/lifecycle-evaluator/migrations");

export async function evaluatorDatabase(): Promise<EvaluatorDatabase> {
  const { url, drop } = await testDatabase({ migrations: MIGRATIONS, name: "evaluator bench" });
  const pool = createPool({ url, applicationName: "bench", statementTimeoutMs: 3_600_000, log });
  return {
    url,
    pool,
    async close() {
      await pool.end();
      await drop();
    },
  };
}

/** SQL for the id that goes with a text: of an environment `e0`, `e1`, …, of a table `t1`, `t2`, … */
export const idOf = (text: string): string =>
  `overlay(overlay(md5(${text}) placing '4' from 13) placing 'a' from 17)::uuid`;

/** What {@link loadTables} fills a database with. */
export interface TablesToLoad {
  readonly tables: number;
  readonly environments: number;
  /** Of the rules; tables were last used at random over a twentieth longer than that, so that few are overdue. */
  readonly days: number;
}

/** Rows per statement: what is shown meanwhile, and what is lost if it ends. */
const AT_ONCE = 500_000;

/**
 * Fills the database as years of folding would have left it: live tables over some environments, each with a
 * rule; a tenth of the tables have one of their own (days, a day that has passed, or never), a twentieth is
 * overdue. About 10 s per million. Their ids are those of {@link idOf}.
 */
export async function loadTables(
  pool: Pool,
  { tables, environments, days }: TablesToLoad,
): Promise<void> {
  await pool.query(`truncate table_state, environment_state, table_read_day, table_read_source`);
  await pool.query(
    `insert into environment_state (
       environment_id, tenant, name, protected, change_version,
       retention_days, retention_set_by, retention_set_at, policy_version)
     select ${idOf("'e' || g")}, 'local', 'e' || g, false, 1, $2, 'bench', now() - interval '5 years', 1
     from generate_series(0, $1::integer - 1) g`,
    [environments, days],
  );
  for (let from = 1; from <= tables; from += AT_ONCE) {
    await pool.query(LOAD_TABLES, [from, Math.min(from + AT_ONCE - 1, tables), environments, days]);
  }
  await pool.query(`vacuum analyze table_state`);
  await pool.query(`analyze environment_state`);
  await settle();
}

/** Has the server write out what was loaded now, not while something is measured. */
async function settle(): Promise<void> {
  const admin = createPool({
    url: await postgresAdminUrl(),
    applicationName: "bench",
    statementTimeoutMs: 600_000,
    log,
  });
  await admin.query(`checkpoint`);
  await admin.end();
}

const LOAD_TABLES = `
  insert into table_state (
    table_id, tenant, environment_id, namespace, name, kind, state, owner, change_version, created_at,
    last_changed_at, last_activity_at, last_activity_kind, last_read_at,
    rule_kind, rule_days, rule_on, rule_set_by, rule_set_at, retention_version,
    own_due_at, expires_by, folded_at)
  select ${idOf("'t' || g")}, 'local', ${idOf("'e' || g % $3::integer")}, 'bronze', 't' || g, 'managed', 'live', 'bench', 1, at,
    at, at, 'read', at,
    rule_kind, rule_days, rule_on, set_by, case when set_by is not null then at end, (rule_kind is not null)::integer,
    own_due_at(rule_kind, rule_days, rule_on, at, null, 86400),
    expires_by('live', 'managed', false, rule_kind, rule_on, null), now()
  from (
    select g, at, rule_kind,
      case when rule_kind = 'days' then $4::integer end as rule_days,
      case when rule_kind = 'on' then (at + make_interval(days => $4))::date end as rule_on,
      case when rule_kind is not null then 'bench' end as set_by
    from (
      select g, now() - random() * make_interval(days => $4) * 1.05 as at,
        case g / $3::integer % 100 when 0 then 'never' when 1 then 'on' else
          case when g / $3::integer % 100 < 10 then 'days' end
        end as rule_kind
      from generate_series($1::integer, $2::integer) g
    ) used
  ) ruled`;
