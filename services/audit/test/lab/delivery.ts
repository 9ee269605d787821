import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Delivery, invalid, newId, PROTOBUF } from "@lapse/kit";
import { DecisionOutcome, DecisionSchema } from "@lapse/proto/events";

/** A decision as its source sends it. */
export type SentDecision = MessageInitShape<typeof DecisionSchema>;

export function sentDecision(change: SentDecision = {}): SentDecision {
  return {
    id: newId(),
    at: timestampFromDate(new Date("2026-03-01T00:00:00.000Z")),
    type: "TABLE_DROPPED",
    service: "catalog",
    tenant: "local",
    outcome: DecisionOutcome.DONE,
    ...change,
  };
}

/** A delivery of it, or of a body that is none. */
export function deliveryOf(
  sent: SentDecision | Uint8Array,
  { source = "lapse.catalog", sequence }: { source?: string; sequence?: bigint } = {},
): Delivery {
  const body =
    sent instanceof Uint8Array ? sent : toBinary(DecisionSchema, create(DecisionSchema, sent));
  return {
    stream: "DECISION",
    subject: "decision.catalog.TABLE_DROPPED",
    streamSequence: sequence ?? 1n,
    deliveryCount: 1,
    storedAt: new Date(),
    headers: {},
    event: {
      id: newId(),
      type: DecisionSchema.typeName,
      source,
      time: new Date(),
      sequence,
      contentType: PROTOBUF,
    },
    body,
    decode(schema) {
      try {
        return fromBinary(schema, body);
      } catch (cause) {
        throw invalid("EVENT_UNREADABLE", "not a message", { cause });
      }
    },
  };
}
