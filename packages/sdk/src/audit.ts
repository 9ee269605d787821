import type { Http } from "./http.ts";
import { readEvents } from "./server-sent-events.ts";
import type {
  ChainVerification,
  DecisionFilter,
  DecisionRecord,
  Page,
  PageRequest,
} from "./types.ts";

export function auditApi(http: Http) {
  return {
    /** Newest first. */
    list(query: DecisionFilter & PageRequest = {}): Promise<Page<DecisionRecord>> {
      return http.send("GET", "api/v1/audit", { query });
    },
    /** Recomputes every hash of the caller's chain. */
    verify(): Promise<ChainVerification> {
      return http.send("GET", "api/v1/audit/verify", { timeoutMs: 600_000 });
    },
    /** What is decided from now on, or after a seq, oldest first, until the signal is aborted. */
    async *watch(
      query: DecisionFilter & { after?: number } = {},
      signal?: AbortSignal,
    ): AsyncGenerator<DecisionRecord> {
      const body = await http.open("api/v1/audit/stream", {
        query,
        ...(signal ? { signal } : {}),
      });
      for await (const event of readEvents(body)) {
        if (event.event === "decision") yield JSON.parse(event.data) as DecisionRecord;
      }
    },
  };
}
