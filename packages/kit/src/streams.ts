/** What a stream holds and for how long; replicas and sizes come from configuration. */
export interface StreamDefinition {
  readonly subjects: readonly string[];
  /** `work`: a message goes away once a consumer has acknowledged it. */
  readonly kind: "events" | "work";
  /** Messages older than this go away; 0: they stay. */
  readonly maxAgeMs: number;
}

const DAY_MS = 86_400_000;

/**
 * Every JetStream stream of Lapse. A consumer may be away as long as its stream keeps messages; what it
 * misses beyond that it notices (ordered fold) or asks the publisher's outbox for (gap healer).
 */
export const STREAMS = {
  ACTIVITY: { subjects: ["activity.>"], kind: "events", maxAgeMs: 7 * DAY_MS },
  CATALOG: { subjects: ["catalog.>"], kind: "events", maxAgeMs: 7 * DAY_MS },
  POLICY: { subjects: ["policy.>"], kind: "events", maxAgeMs: 7 * DAY_MS },
  EXPIRY: { subjects: ["expiry.>"], kind: "events", maxAgeMs: DAY_MS },
  RUN: { subjects: ["run.>"], kind: "events", maxAgeMs: 7 * DAY_MS },
  WORK: { subjects: ["work.>"], kind: "work", maxAgeMs: 0 },
  HANDOFF: { subjects: ["handoff.>"], kind: "events", maxAgeMs: 7 * DAY_MS },
  DECISION: { subjects: ["decision.>"], kind: "events", maxAgeMs: 7 * DAY_MS },
  PARKED: { subjects: ["parked.>"], kind: "events", maxAgeMs: 30 * DAY_MS },
} as const satisfies Record<string, StreamDefinition>;

export type StreamName = keyof typeof STREAMS;

export const STREAM_NAMES = Object.keys(STREAMS) as StreamName[];

/** JetStream's de-duplication window: a convenience, never relied on. */
export const DUPLICATE_WINDOW_MS = 120_000;
