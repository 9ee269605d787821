/**
 * How long a `Retry-After` header asks to wait from `now` (ms since the epoch), in ms: it gives seconds or an HTTP
 * date. Null: there is none, or it says nothing that can be understood.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** The one form that is written today; the two obsolete ones are left to the back-off. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
