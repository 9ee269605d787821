import {
  type Delivery,
  type HandlerResult,
  LapseError,
  type Metrics,
  type Pool,
  type Queryable,
  trackSequence,
} from "@lapse/kit";
import { DecisionSchema } from "@lapse/proto/events";
import { appendDecisions } from "../app/append-decisions.ts";
import type { Decision, DecisionRecord } from "../domain/decision.ts";
import { typeLabel } from "../domain/type-label.ts";
import { toDecision } from "../messages/decision.ts";

/** Takes decisions into the log: those that the stream delivers, and those that a source sends again. */
export type DecisionReceiver = (deliveries: readonly Delivery[]) => Promise<HandlerResult>;

/**
 * A receiver that appends what it can read and has the rest parked: what is no decision, and what carries the id
 * of another. Parked or not, a sequence number that arrived is no gap.
 */
export function decisionReceiver({
  pool,
  metrics,
}: {
  readonly pool: Pool;
  readonly metrics: Metrics;
}): DecisionReceiver {
  const count = decisionCounter(metrics);
  return async (deliveries) => {
    const { readable, parked } = read(deliveries);
    const { records, misused } = await appendDecisions(pool, [...readable.keys()], (tx) =>
      track(tx, deliveries),
    );
    records.forEach(count);
    for (const decision of misused) {
      const delivery = readable.get(decision);
      if (delivery !== undefined) {
        const reason = `DECISION_ID_REUSED: another decision has the id ${decision.id}`;
        parked.push({ delivery, reason });
      }
    }
    return { parked };
  };
}

function read(deliveries: readonly Delivery[]) {
  const readable = new Map<Decision, Delivery>();
  const parked: { delivery: Delivery; reason: string }[] = [];
  for (const delivery of deliveries) {
    try {
      const { source, sequence } = delivery.event;
      const message = delivery.decode(DecisionSchema);
      const decision = toDecision(message, { source, sourceSequence: sequence ?? null });
      readable.set(decision, delivery);
    } catch (error) {
      if (!(error instanceof LapseError && error.kind === "invalid")) {
        throw error;
      }
      parked.push({ delivery, reason: `${error.reason}: ${error.message}` });
    }
  }
  return { readable, parked };
}

async function track(tx: Queryable, deliveries: readonly Delivery[]): Promise<void> {
  for (const { event } of deliveries) {
    if (event.sequence !== undefined) {
      await trackSequence(tx, event.source, "DECISION", event.sequence);
    }
  }
}

function decisionCounter(metrics: Metrics): (record: DecisionRecord) => void {
  const counter = metrics.counter("lapse_decisions_total", "Decisions taken into the log", [
    "type",
    "outcome",
  ]);
  return ({ type, outcome }) => counter.inc({ type: typeLabel(type), outcome });
}
