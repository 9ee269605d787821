import type { Http } from "./http.ts";
import type { Environment, EnvironmentRetention, Page, PageRequest } from "./types.ts";

export function environmentsApi(http: Http) {
  const url = (name: string) => `api/v1/environments/${encodeURIComponent(name)}`;
  return {
    create(name: string, options: { protected?: boolean } = {}): Promise<Environment> {
      return http.send("POST", "api/v1/environments", { body: { name, ...options } });
    },
    get(name: string): Promise<Environment> {
      return http.send("GET", url(name));
    },
    list(query: PageRequest = {}): Promise<Page<Environment>> {
      return http.send("GET", "api/v1/environments", { query });
    },
    /** Tables of a protected environment never expire (T19). */
    protect(name: string, isProtected: boolean): Promise<Environment> {
      return http.send("PATCH", url(name), { body: { protected: isProtected } });
    },
    retention(name: string): Promise<EnvironmentRetention> {
      return http.send("GET", `${url(name)}/retention`);
    },
    /** Days for every managed table without a rule of its own; null turns it off (T7). */
    setRetention(name: string, days: number | null): Promise<EnvironmentRetention> {
      return http.send("PUT", `${url(name)}/retention`, { body: { days } });
    },
  };
}
