import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { pathPart } from "../path-part.ts";
import {
  type ApiKey,
  type CreatedApiKey,
  type Role,
  readApiKey,
  readCreatedApiKey,
} from "../types/access.ts";

export type NewApiKey = {
  /** What it is for. */
  readonly name: string;
  /** No more than the caller has; absent: only what is granted to the key's subject. */
  readonly roles?: readonly Role[];
  /** Calendar days, 1 to 365; 90 unless given. */
  readonly expiresInDays?: number;
};

/** Bearer tokens for programs, which expire and can be revoked. */
export function apiKeysApi(http: Http) {
  return {
    /**
     * Makes a key. Its `token` is in this answer and nowhere else. When the answer was lost, the repeated call is
     * refused, since the token cannot be shown again: revoke that key and make another.
     */
    async create(
      { expiresInDays, ...given }: NewApiKey,
      options?: WriteOptions,
    ): Promise<CreatedApiKey> {
      const body = { ...given, expires_in_days: expiresInDays };
      return readCreatedApiKey(await http.send("POST", "api/v1/api-keys", { body, options }));
    },
    /** An admin sees all of the tenant, others their own. */
    list(options?: CallOptions): Listing<ApiKey> {
      return listing(http, "api/v1/api-keys", readApiKey, {}, options);
    },
    /** It is refused everywhere within 5 seconds. */
    async revoke(id: string, options?: WriteOptions): Promise<ApiKey> {
      return readApiKey(await http.send("DELETE", `api/v1/api-keys/${pathPart(id)}`, { options }));
    },
  };
}
