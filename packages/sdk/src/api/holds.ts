import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { pathPart } from "../path-part.ts";
import { tableUrl } from "../table-path.ts";
import { type Hold, readHold } from "../types/table.ts";

/** Leases that keep a table from being dropped while something works on it (T21). */
export function holdsApi(http: Http) {
  const url = (holdId: string) => `api/v1/holds/${pathPart(holdId)}`;
  const create = async (table: string, kind: Hold["kind"], options?: WriteOptions) =>
    readHold(await http.send("POST", `${table}/holds`, { body: { kind }, options }));
  return {
    /** Renew it well before its `expires_at`; without a heartbeat it ends then. */
    create(
      environment: string,
      table: string,
      kind: Hold["kind"] = "write",
      options?: WriteOptions,
    ): Promise<Hold> {
      return create(tableUrl(environment, table), kind, options);
    },
    /** As `create`, by the table's id: also for a staged table, which has no name yet. */
    createById(
      tableId: string,
      kind: Hold["kind"] = "write",
      options?: WriteOptions,
    ): Promise<Hold> {
      return create(`api/v1/tables/${pathPart(tableId)}`, kind, options);
    },
    /** The holder's heartbeat. */
    async renew(holdId: string, options?: WriteOptions): Promise<Hold> {
      return readHold(await http.send("PUT", url(holdId), { options }));
    },
    async release(holdId: string, options?: WriteOptions): Promise<void> {
      await http.send("DELETE", url(holdId), { options });
    },
    /** Those that have not ended. */
    list(environment: string, table: string, options?: CallOptions): Listing<Hold> {
      return listing(http, `${tableUrl(environment, table)}/holds`, readHold, {}, options);
    },
  };
}
