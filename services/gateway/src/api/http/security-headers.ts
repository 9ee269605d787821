import type { Api } from "./api.ts";

/** The answers are data for programs: never framed, sniffed, cached or run as a page. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Sets the headers of {@link HEADERS}, where a route has not set its own. */
export function secureAnswers(api: Api): void {
  api.addHook("onRequest", async (_request, reply) => {
    reply.headers(HEADERS);
  });
}
