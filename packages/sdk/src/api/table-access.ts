import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { pathPart } from "../path-part.ts";
import { tableUrl } from "../table-path.ts";
import {
  type Mask,
  type RowFilterToApply,
  readTableAccess,
  type TableAccess,
  type TableRight,
} from "../types/access.ts";

/** A row filter to set. `values` may be left out for the null tests. */
export type NewRowFilter = Omit<RowFilterToApply, "values"> & {
  readonly values?: readonly string[];
  /** A subject, `role:reader` …, or `*` for all but the owner and admins. */
  readonly applies_to: string;
};

/** A mask, and whom it is for: `*`, unless given. */
export type NewColumnMask = { readonly mask: Mask; readonly applies_to?: string };

/** Who may do what with a table. For its owner and for who may manage access; every change answers with all of it. */
export function tableAccessApi(http: Http) {
  const url = (environment: string, table: string) => `${tableUrl(environment, table)}/access`;
  return {
    async get(environment: string, table: string, options?: CallOptions): Promise<TableAccess> {
      return readTableAccess(await http.send("GET", url(environment, table), { options }));
    },
    /** `write` and `drop` include `read`. */
    async grant(
      environment: string,
      table: string,
      grant: { readonly subject: string; readonly right: TableRight },
      options?: WriteOptions,
    ): Promise<TableAccess> {
      const address = `${url(environment, table)}/grants`;
      return readTableAccess(await http.send("POST", address, { body: grant, options }));
    },
    async revoke(
      environment: string,
      table: string,
      { subject, right }: { readonly subject: string; readonly right: TableRight },
      options?: WriteOptions,
    ): Promise<TableAccess> {
      const grant = `grants/${pathPart(subject)}/${pathPart(right)}`;
      return readTableAccess(
        await http.send("DELETE", `${url(environment, table)}/${grant}`, { options }),
      );
    },
    /** Sets the filter of that name, or puts it in the place of the one that has it. */
    async setFilter(
      environment: string,
      table: string,
      name: string,
      filter: NewRowFilter,
      options?: WriteOptions,
    ): Promise<TableAccess> {
      const address = `${url(environment, table)}/filters/${pathPart(name)}`;
      return readTableAccess(await http.send("PUT", address, { body: filter, options }));
    },
    async removeFilter(
      environment: string,
      table: string,
      name: string,
      options?: WriteOptions,
    ): Promise<TableAccess> {
      const address = `${url(environment, table)}/filters/${pathPart(name)}`;
      return readTableAccess(await http.send("DELETE", address, { options }));
    },
    /** Sets the mask of that column for that subject, or replaces it. */
    async setMask(
      environment: string,
      table: string,
      column: string,
      { mask, applies_to }: NewColumnMask,
      options?: WriteOptions,
    ): Promise<TableAccess> {
      const address = `${url(environment, table)}/masks/${pathPart(column)}`;
      const request = { query: { applies_to }, body: { mask }, options };
      return readTableAccess(await http.send("PUT", address, request));
    },
    async removeMask(
      environment: string,
      table: string,
      column: string,
      { applies_to }: { readonly applies_to?: string } = {},
      options?: WriteOptions,
    ): Promise<TableAccess> {
      const address = `${url(environment, table)}/masks/${pathPart(column)}`;
      const request = { query: { applies_to }, options };
      return readTableAccess(await http.send("DELETE", address, request));
    },
  };
}
