import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AccessService } from "@lapse/proto/catalog";
import { unauthenticated } from "./errors.ts";
import { parsePrincipal } from "./principal.ts";
import type { GrpcClient } from "./rpc/types.ts";
import type { Verified } from "./verified-tokens.ts";

/** What every API key begins with, so that it is told from a JWT, and found by whoever scans for leaked secrets. */
export const API_KEY_PREFIX = "lapse_";

/** What the subject of every API key begins with, and of nobody else: grants to a key are its own. */
export const KEY_SUBJECT = "key:";

/**
 * What an API key stands for.
 *
 * Throws unauthenticated `KEY_EXPIRED`, `KEY_REVOKED` or `TOKEN_INVALID`, and unavailable where that cannot be said.
 */
export type VerifyApiKey = (token: string) => Promise<Verified>;

/** Asks the catalog, which keeps the keys. */
export const apiKeysOf =
  (catalog: Pick<GrpcClient<typeof AccessService>, "authenticateApiKey">): VerifyApiKey =>
  async (token) => {
    const { principal: found, expiresAt } = await catalog.authenticateApiKey({ token });
    // A key is a key, whatever the answer says: none makes its holder a service.
    const principal = parsePrincipal({ ...found, kind: "key" });
    if (typeof principal === "string" || !principal.subject.startsWith(KEY_SUBJECT) || !expiresAt) {
      throw unauthenticated("TOKEN_INVALID", "the API key is not accepted; ask for another");
    }
    return { principal, expiresAt: timestampMs(expiresAt) };
  };
