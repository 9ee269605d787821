import { LapseApiError } from "../errors.ts";
import type { CallOptions, Http } from "../http/http.ts";
import { pauseAfter } from "../http/pause.ts";
import { toApiError } from "../http/problem.ts";
import { readJson } from "../http/read-json.ts";
import { readEvents } from "../http/server-sent-events.ts";
import { type Listing, listing } from "../listing.ts";
import {
  type ChainVerification,
  type DecisionFilter,
  type DecisionRecord,
  readDecision,
} from "../types/decision.ts";

export type StreamQuery = DecisionFilter & {
  /** Start after this seq; absent: from now on. */
  readonly after?: number;
};

/** Failures in a row after which a stream is given up. */
const ATTEMPTS = 10;

/** The log of decisions, of the caller's tenant. */
export function auditApi(http: Http) {
  return {
    /** Newest first. */
    list(filter: DecisionFilter = {}, options?: CallOptions): Listing<DecisionRecord> {
      return listing(http, "api/v1/audit", readDecision, filter, options);
    },
    /** Recomputes every hash of the caller's chain. It may take minutes. */
    async verify(options?: CallOptions): Promise<ChainVerification> {
      const request = { timeoutMs: 600_000, options };
      return (await http.send("GET", "api/v1/audit/verify", request)) as ChainVerification;
    },
    /**
     * What is decided from now on, or after a seq, oldest first, until the signal is aborted. A stream that
     * ends or breaks off is opened again after the last record received, so that none is missed or comes twice.
     */
    async *stream(
      query: StreamQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<DecisionRecord> {
      const { signal } = options;
      let { after } = query;
      for (let failures = 0; ; ) {
        try {
          for await (const record of recordsOf(http, { ...query, after }, options)) {
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

async function* recordsOf(
  http: Http,
  query: DecisionFilter & { readonly after: number | undefined },
  options: CallOptions,
): AsyncGenerator<DecisionRecord> {
  const body = await http.open("api/v1/audit/stream", { query, options });
  for await (const { event, data } of readEvents(body)) {
    if (event === "decision") yield readDecision(readJson(data));
    if (event === "problem") {
      const { status } = JSON.parse(data) as { status: number };
      throw toApiError(status, data);
    }
  }
}

/** Whether a stream that ended so may be had again: a connection broke, or a service restarts. */
function mayComeBack(error: unknown): boolean {
  if (error instanceof LapseApiError) return error.retryable;
  return !(error instanceof SyntaxError || error instanceof RangeError);
}
