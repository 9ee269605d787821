import type { Http } from "./http.ts";
import type { Page, PageRequest, ParkedMessage } from "./types.ts";

export function parkedApi(http: Http) {
  const url = (id: string) => `api/v1/parked/${encodeURIComponent(id)}`;
  return {
    /** Oldest first. */
    list(query: PageRequest & { stream?: string } = {}): Promise<Page<ParkedMessage>> {
      return http.send("GET", "api/v1/parked", { query });
    },
    /** Sends the message again to the subject it came from. */
    retry(id: string): Promise<void> {
      return http.send("POST", `${url(id)}/retry`, { body: {} });
    },
    /** Deletes the message for good. */
    discard(id: string): Promise<void> {
      return http.send("DELETE", url(id));
    },
  };
}
