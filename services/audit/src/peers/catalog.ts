import {
  type CallContext,
  forwardFrom,
  type GrpcClient,
  LapseError,
  unavailable,
} from "@lapse/kit";
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

/** Whoever waits for the answer is told within two seconds that there is none. */
const WITHIN_MS = 2_000;

export function catalogPeer(
  access: Pick<GrpcClient<typeof AccessService>, "getTenantRights">,
): Catalog {
  return {
    async getTenantRights(call) {
      try {
        const options = { ...forwardFrom(call), deadlineMs: WITHIN_MS };
        return (await access.getTenantRights({}, options)).rights;
      } catch (error) {
        if (error instanceof LapseError && error.kind === "unavailable") {
          throw unavailable(
            "CATALOG_UNREACHABLE",
            "the catalog cannot be asked what you may do, and your token alone does not say; repeat the call",
            { cause: error },
          );
        }
        throw error;
      }
    },
  };
}
