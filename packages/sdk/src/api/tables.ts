import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { environmentUrl, pathPart } from "../path-part.ts";
import { parseTablePath, tablesUrl, tableUrl } from "../table-path.ts";
import {
  type ExpiringTable,
  type Retention,
  type RetentionRule,
  readExpiringTable,
} from "../types/retention.ts";
import {
  type Column,
  type Commit,
  type CommittedTable,
  readTable,
  type Table,
  type TableFiles,
  type TableReads,
} from "../types/table.ts";
import { holdsApi } from "./holds.ts";
import { type TableChange, tableApi } from "./table.ts";
import { tableAccessApi } from "./table-access.ts";
import type { FilesOptions } from "./table-files.ts";

export type NewTable = {
  readonly kind?: Table["kind"];
  readonly columns?: readonly Column[];
  readonly description?: string;
  /** Invisible until its first commit, and reached by id until then. */
  readonly staged?: boolean;
  /** Days after the last activity (T1). */
  readonly expireAfterDays?: number;
};

/**
 * Tables by environment and dotted name: `client.tables.retention("dev", "bronze.trial")`. By its immutable id one is
 * reached with `byId`, as a staged table must be.
 */
export function tablesApi(http: Http) {
  const named = (environment: string, table: string) =>
    tableApi(http, () => tableUrl(environment, table));

  return {
    /** The same calls on the table of that id. */
    byId: (id: string) => tableApi(http, () => `api/v1/tables/${pathPart(id)}`),

    async create(
      environment: string,
      table: string,
      { expireAfterDays, ...given }: NewTable = {},
      options?: WriteOptions,
    ): Promise<Table> {
      const { namespace, name } = parseTablePath(table);
      const body = { name, ...given, expire_after_days: expireAfterDays };
      const url = tablesUrl(environment, namespace);
      return readTable(await http.send("POST", url, { body, options }));
    },
    /** All of an environment, or of a namespace and those below it; by name. */
    list(
      environment: string,
      { namespace }: { readonly namespace?: string } = {},
      options?: CallOptions,
    ): Listing<Table> {
      const url =
        namespace === undefined
          ? `${environmentUrl(environment)}/tables`
          : tablesUrl(environment, namespace);
      return listing(http, url, readTable, {}, options);
    },
    get(environment: string, table: string, options?: CallOptions): Promise<Table> {
      return named(environment, table).get(options);
    },
    update(
      environment: string,
      table: string,
      change: TableChange,
      options?: WriteOptions,
    ): Promise<Table> {
      return named(environment, table).update(change, options);
    },
    /** Gives it the name, and the namespace, of `to`; id, files, retention and access stay. */
    async rename(
      environment: string,
      table: string,
      to: string,
      options?: WriteOptions,
    ): Promise<Table> {
      return named(environment, table).update(parseTablePath(to), options);
    },
    drop(environment: string, table: string, options?: WriteOptions): Promise<Table> {
      return named(environment, table).drop(options);
    },
    /** Brings back the one dropped last under this name, or the one with this `id`, `as` another name (T28, T29). */
    async undrop(
      environment: string,
      table: string,
      which: { readonly id?: string; readonly as?: string } = {},
      options?: WriteOptions,
    ): Promise<Table> {
      const url = `${tableUrl(environment, table)}/undrop`;
      return readTable(await http.send("POST", url, { body: which, options }));
    },
    /** Brings back the dropped table of that id, whatever its name was. */
    async undropById(
      environment: string,
      id: string,
      how: { readonly as?: string } = {},
      options?: WriteOptions,
    ): Promise<Table> {
      const url = `${environmentUrl(environment)}/dropped-tables/${pathPart(id)}/undrop`;
      return readTable(await http.send("POST", url, { body: how, options }));
    },
    /** What the caller may bring back, the latest first; with `name` every table dropped under it (T29). */
    dropped(
      environment: string,
      { name }: { readonly name?: string } = {},
      options?: CallOptions,
    ): Listing<Table> {
      const url = `${environmentUrl(environment)}/dropped-tables`;
      return listing(http, url, readTable, { name }, options);
    },
    /** When it expires, and by which rule (T2). */
    retention(environment: string, table: string, options?: CallOptions): Promise<Retention> {
      return named(environment, table).retention(options);
    },
    /** `{days: 3}`, `{on: "2026-12-31"}` or `{never: true}` (T3). */
    setRetention(
      environment: string,
      table: string,
      rule: RetentionRule,
      options?: WriteOptions,
    ): Promise<Retention> {
      return named(environment, table).setRetention(rule, options);
    },
    /** Soonest first; without `withinDays` the server's warning window (T11). */
    expiring(
      environment: string,
      { withinDays }: { readonly withinDays?: number } = {},
      options?: CallOptions,
    ): Listing<ExpiringTable> {
      const url = `${environmentUrl(environment)}/expiring-tables`;
      return listing(http, url, readExpiringTable, { within_days: withinDays }, options);
    },
    /** Adds files, or puts them in the place of the others. */
    commit(
      environment: string,
      table: string,
      commit: Commit,
      options?: WriteOptions,
    ): Promise<CommittedTable> {
      return named(environment, table).commit(commit, options);
    },
    /** The files of the current snapshot, all of them. */
    files(
      environment: string,
      table: string,
      options?: FilesOptions & CallOptions,
    ): Promise<TableFiles> {
      return named(environment, table).files(options);
    },
    /** Reads per day and which sources have reported any (T17, T18). */
    reads(environment: string, table: string, options?: CallOptions): Promise<TableReads> {
      return named(environment, table).reads(options);
    },
    holds: holdsApi(http),
    access: tableAccessApi(http),
  };
}
