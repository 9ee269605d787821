import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { environmentUrl, pathPart } from "../path-part.ts";
import { type Namespace, readNamespace } from "../types/environment.ts";

/** Namespaces, by environment and dotted path. A table creates the one it is in; none has to be made first. */
export function namespacesApi(http: Http) {
  const url = (environment: string) => `${environmentUrl(environment)}/namespaces`;
  return {
    async create(environment: string, path: string, options?: WriteOptions): Promise<Namespace> {
      const answer = await http.send("POST", url(environment), { body: { path }, options });
      return readNamespace(answer);
    },
    list(environment: string, options?: CallOptions): Listing<Namespace> {
      return listing(http, url(environment), readNamespace, {}, options);
    },
    /** Refused while it, or one below it, has tables that are there or can still be brought back (T31). */
    async delete(environment: string, path: string, options?: WriteOptions): Promise<void> {
      await http.send("DELETE", `${url(environment)}/${pathPart(path)}`, { options });
    },
  };
}
