import { askCatalog, type CallContext, type GrpcClient } from "@lapse/kit";
import type { AccessService } from "@lapse/proto/catalog";

/** The catalog, which says what a principal may do; asked on behalf of whoever calls. */
export interface Catalog {
  /**
   * What the principal of the call may do in all of its tenant.
   *
   * @throws unavailable `CATALOG_UNREACHABLE`
   */
  getTenantRights(call: CallContext): Promise<readonly string[]>;
}

export function catalogPeer(
  access: Pick<GrpcClient<typeof AccessService>, "getTenantRights">,
): Catalog {
  return {
    async getTenantRights(call) {
      const { rights } = await askCatalog(call, (options) => access.getTenantRights({}, options));
      return rights;
    },
  };
}
