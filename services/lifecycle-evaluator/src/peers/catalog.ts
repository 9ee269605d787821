import { askCatalog, type CallContext, type GrpcClient } from "@lapse/kit";
import type { AccessService, CatalogService } from "@lapse/proto/catalog";

/** The catalog, which says what a principal may do; asked on behalf of whoever calls. */
export interface Catalog {
  /**
   * What the principal of the call may do with each of these tables, at most 1,000; one that it may not know is left
   * out.
   *
   * @throws unavailable `CATALOG_UNREACHABLE`
   */
  getTableRights(
    tableIds: readonly string[],
    call: CallContext,
  ): Promise<ReadonlyMap<string, readonly string[]>>;
  /**
   * The tables of an environment that it may read beside its own: all, or these.
   *
   * @throws unavailable `CATALOG_UNREACHABLE`; denied, not_found as the catalog says
   */
  getReadableTables(environmentId: string, call: CallContext): Promise<"all" | readonly string[]>;
  /**
   * What it may do in all of its tenant.
   *
   * @throws unavailable `CATALOG_UNREACHABLE`
   */
  getTenantRights(call: CallContext): Promise<readonly string[]>;
}

export function catalogPeer(
  catalog: Pick<GrpcClient<typeof CatalogService>, "batchGetTables">,
  access: Pick<GrpcClient<typeof AccessService>, "getReadableTables" | "getTenantRights">,
): Catalog {
  return {
    async getTableRights(tableIds, call) {
      const refs = tableIds.map(
        (tableId) => ({ ref: { case: "tableId", value: tableId } }) as const,
      );
      const { tables } = await askCatalog(call, (options) =>
        catalog.batchGetTables({ tables: refs }, options),
      );
      return new Map(
        tables.flatMap(({ table }) => (table === undefined ? [] : [[table.tableId, table.rights]])),
      );
    },
    async getReadableTables(environmentId, call) {
      const { all, tableIds } = await askCatalog(call, (options) =>
        access.getReadableTables({ environmentId }, options),
      );
      return all ? "all" : tableIds;
    },
    async getTenantRights(call) {
      const { rights } = await askCatalog(call, (options) => access.getTenantRights({}, options));
      return rights;
    },
  };
}
