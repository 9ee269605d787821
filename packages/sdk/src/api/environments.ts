import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { environmentUrl } from "../path-part.ts";
import {
  type Environment,
  type EnvironmentRetention,
  readEnvironment,
  readEnvironmentRetention,
} from "../types/environment.ts";

/** Environments, by name. */
export function environmentsApi(http: Http) {
  const protect = async (name: string, isProtected: boolean, options?: WriteOptions) => {
    const body = { protected: isProtected };
    return readEnvironment(await http.send("PATCH", environmentUrl(name), { body, options }));
  };
  const retentionUrl = (name: string) => `${environmentUrl(name)}/retention`;

  return {
    async create(
      name: string,
      settings: { protected?: boolean } = {},
      options?: WriteOptions,
    ): Promise<Environment> {
      const body = { name, ...settings };
      return readEnvironment(await http.send("POST", "api/v1/environments", { body, options }));
    },
    list(options?: CallOptions): Listing<Environment> {
      return listing(http, "api/v1/environments", readEnvironment, {}, options);
    },
    async get(name: string, options?: CallOptions): Promise<Environment> {
      return readEnvironment(await http.send("GET", environmentUrl(name), { options }));
    },
    /** Lets none of its tables expire, whatever their retention says (T19). */
    protect(name: string, options?: WriteOptions): Promise<Environment> {
      return protect(name, true, options);
    },
    unprotect(name: string, options?: WriteOptions): Promise<Environment> {
      return protect(name, false, options);
    },
    /** Refused while it is protected, or has tables that are there or can still be brought back (T31). */
    async delete(name: string, options?: WriteOptions): Promise<void> {
      await http.send("DELETE", environmentUrl(name), { options });
    },
    async retention(name: string, options?: CallOptions): Promise<EnvironmentRetention> {
      return readEnvironmentRetention(await http.send("GET", retentionUrl(name), { options }));
    },
    /** Days for every managed table without a rule of its own; null turns it off (T7). */
    async setRetention(
      name: string,
      days: number | null,
      options?: WriteOptions,
    ): Promise<EnvironmentRetention> {
      const answer = await http.send("PUT", retentionUrl(name), { body: { days }, options });
      return readEnvironmentRetention(answer);
    },
  };
}
