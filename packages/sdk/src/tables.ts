import type { Http } from "./http.ts";
import { parseTablePath, tableUrl } from "./table-path.ts";
import type {
  Column,
  Commit,
  CommittedTable,
  ExpiringTable,
  Hold,
  Page,
  PageRequest,
  Retention,
  RetentionRule,
  Table,
  TableFiles,
  TableReads,
} from "./types.ts";

export type NewTable = {
  readonly kind?: Table["kind"];
  readonly columns?: readonly Column[];
  readonly description?: string;
  /** Invisible until its first commit, and reached by id until then. */
  readonly staged?: boolean;
  /** Days after the last activity (T1). */
  readonly expireAfterDays?: number;
};

/** Tables by environment and dotted name, e.g. `client.tables.get("dev", "bronze.trial")`. */
export function tablesApi(http: Http) {
  const environmentUrl = (environment: string) =>
    `api/v1/environments/${encodeURIComponent(environment)}`;
  const byId = (id: string) => `api/v1/tables/${encodeURIComponent(id)}`;
  return {
    create(environment: string, table: string, options: NewTable = {}): Promise<Table> {
      const { namespace, name } = parseTablePath(table);
      const { expireAfterDays, ...rest } = options;
      const body = {
        name,
        ...rest,
        ...(expireAfterDays === undefined ? {} : { expire_after_days: expireAfterDays }),
      };
      const url = `${environmentUrl(environment)}/namespaces/${encodeURIComponent(namespace)}/tables`;
      return http.send("POST", url, { body });
    },
    get(environment: string, table: string): Promise<Table> {
      return http.send("GET", tableUrl(environment, table));
    },
    list(
      environment: string,
      options: PageRequest & { namespace?: string } = {},
    ): Promise<Page<Table>> {
      const { namespace, ...query } = options;
      const within = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
      return http.send("GET", `${environmentUrl(environment)}${within}/tables`, { query });
    },
    describe(environment: string, table: string, description: string): Promise<Table> {
      return http.send("PATCH", tableUrl(environment, table), { body: { description } });
    },
    drop(environment: string, table: string): Promise<Table> {
      return http.send("DELETE", tableUrl(environment, table));
    },
    /** Brings back the one dropped last under this name, or the one with this id (T28). */
    undrop(
      environment: string,
      table: string,
      options: { id?: string; as?: string } = {},
    ): Promise<Table> {
      return http.send("POST", `${tableUrl(environment, table)}/undrop`, { body: options });
    },
    undropById(environment: string, id: string, options: { as?: string } = {}): Promise<Table> {
      const url = `${environmentUrl(environment)}/dropped-tables/${encodeURIComponent(id)}/undrop`;
      return http.send("POST", url, { body: options });
    },
    dropped(environment: string, query: PageRequest = {}): Promise<Page<Table>> {
      return http.send("GET", `${environmentUrl(environment)}/dropped-tables`, { query });
    },
    retention(environment: string, table: string): Promise<Retention> {
      return http.send("GET", `${tableUrl(environment, table)}/retention`);
    },
    setRetention(environment: string, table: string, rule: RetentionRule): Promise<Retention> {
      return http.send("PUT", `${tableUrl(environment, table)}/retention`, { body: rule });
    },
    setRetentionById(id: string, rule: RetentionRule): Promise<Retention> {
      return http.send("PUT", `${byId(id)}/retention`, { body: rule });
    },
    /** Soonest first; without `withinDays` the server's warning window (T11). */
    expiring(
      environment: string,
      options: PageRequest & { withinDays?: number } = {},
    ): Promise<Page<ExpiringTable>> {
      const { withinDays, ...page } = options;
      const query = { ...page, within_days: withinDays };
      return http.send("GET", `${environmentUrl(environment)}/expiring-tables`, { query });
    },
    files(environment: string, table: string): Promise<TableFiles> {
      return http.send("GET", `${tableUrl(environment, table)}/files`);
    },
    /** Reads per day and which sources have reported any (T17, T18). */
    reads(environment: string, table: string): Promise<TableReads> {
      return http.send("GET", `${tableUrl(environment, table)}/reads`);
    },
    commit(id: string, commit: Commit): Promise<CommittedTable> {
      return http.send("POST", `${byId(id)}/commits`, { body: commit });
    },
    /** Keeps a table from being dropped while a write runs; renew it well before `expires_at` (T21). */
    hold(id: string, kind: Hold["kind"] = "write"): Promise<Hold> {
      return http.send("POST", `${byId(id)}/holds`, { body: { kind } });
    },
    renewHold(holdId: string): Promise<Hold> {
      return http.send("PUT", `api/v1/holds/${encodeURIComponent(holdId)}`);
    },
    releaseHold(holdId: string): Promise<void> {
      return http.send("DELETE", `api/v1/holds/${encodeURIComponent(holdId)}`);
    },
  };
}
