import { LapseApiError } from "./errors.ts";
import type { Http } from "./http.ts";
import { pauseAfter } from "./pause.ts";
import { toApiError } from "./problem.ts";
import { readEvents } from "./server-sent-events.ts";
import type {
  ChainVerification,
  DecisionFilter,
  DecisionRecord,
  Page,
  PageRequest,
} from "./types.ts";

export type WatchQuery = DecisionFilter & {
  /** Start after this seq; absent: from now on. */
  readonly after?: number;
};

/** Failures in a row after which a stream is given up. */
const ATTEMPTS = 10;

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
    /**
     * What is decided from now on, or after a seq, oldest first, until the signal is aborted. A stream that
     * ends or breaks off is opened again after the last record received, so that none is missed or comes twice.
     */
    async *watch(query: WatchQuery = {}, signal?: AbortSignal): AsyncGenerator<DecisionRecord> {
      let { after } = query;
      for (let failures = 0; ; ) {
        try {
          for await (const record of streamOf(http, { ...query, after }, signal)) {
            failures = 0;
            after = record.seq;
            yield record;
          }
          failures = 0;
        } catch (error) {
          signal?.throwIfAborted();
          failures += 1;
          if (!mayComeBack(error) || failures >= ATTEMPTS) throw error;
        }
        await pauseAfter(Math.max(1, failures), signal);
      }
    },
  };
}

async function* streamOf(
  http: Http,
  query: DecisionFilter & { readonly after: number | undefined },
  signal: AbortSignal | undefined,
): AsyncGenerator<DecisionRecord> {
  const body = await http.open("api/v1/audit/stream", { query, ...(signal ? { signal } : {}) });
  for await (const { event, data } of readEvents(body)) {
    if (event === "decision") yield JSON.parse(data) as DecisionRecord;
    if (event === "problem") {
      const { status } = JSON.parse(data) as { status: number };
      throw toApiError(status, data);
    }
  }
}

/** Whether a stream that ended so may be had again: a connection broke, or a service restarts. */
const mayComeBack = (error: unknown): boolean =>
  error instanceof LapseApiError ? error.repeatable : !(error instanceof SyntaxError);
