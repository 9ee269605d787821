import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Listing, listing } from "../listing.ts";
import { pathPart } from "../path-part.ts";
import { type ParkedMessage, readParkedMessage } from "../types/operations.ts";

/** Messages set aside because they could not be handled. */
export function parkedApi(http: Http) {
  const url = (id: string) => `api/v1/parked/${pathPart(id)}`;
  return {
    /** Oldest first. */
    list(
      { stream }: { readonly stream?: string } = {},
      options?: CallOptions,
    ): Listing<ParkedMessage> {
      return listing(http, "api/v1/parked", readParkedMessage, { stream }, options);
    },
    /** Sends the message again to the subject it came from. */
    async retry(id: string, options?: WriteOptions): Promise<void> {
      await http.send("POST", `${url(id)}/retry`, { body: {}, options });
    },
    /** Deletes the message for good. */
    async discard(id: string, options?: WriteOptions): Promise<void> {
      await http.send("DELETE", url(id), { options });
    },
  };
}
