import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { type Role, type RoleGrant, readRoleGrant } from "../types/access.ts";

/** A role of somebody: everywhere in the tenant, or in one environment. */
export type HeldRole = {
  readonly subject: string;
  readonly role: Role;
  readonly environment?: string;
};

/** Roles given to people and API keys, besides those that their token says. */
export function rolesApi(http: Http) {
  return {
    async grant(grant: HeldRole, options?: WriteOptions): Promise<RoleGrant> {
      return readRoleGrant(await http.send("POST", "api/v1/roles", { body: grant, options }));
    },
    async revoke(grant: HeldRole, options?: WriteOptions): Promise<void> {
      await http.send("DELETE", "api/v1/roles", { query: grant, options });
    },
    /** Of an environment, of a subject, or all. */
    list(
      filter: { readonly environment?: string; readonly subject?: string } = {},
      options?: CallOptions,
    ): Listing<RoleGrant> {
      return listing(http, "api/v1/roles", readRoleGrant, filter, options);
    },
  };
}
