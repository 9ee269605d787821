import {
  type Delivery,
  type Handle,
  type HandlerResult,
  invalid,
  LapseError,
  type Metrics,
  type Pool,
  trackSequences,
} from "@lapse/kit";
import { DecisionSchema } from "@lapse/proto/events";
import { appendDecisions } from "../app/append-decisions.ts";
import type { Decision } from "../domain/decision.ts";
import { typeLabel } from "../domain/type-label.ts";
import { toDecision } from "../messages/decision.ts";

/** Takes decisions into the log. */
export interface DecisionReceiver {
  /**
   * From the stream. What is no decision, or carries the id of another, is parked; it has arrived all the same, and
   * is no gap.
   */
  readonly fromStream: Handle;
  /**
   * Sent again by their source. There is no parking these: what cannot be appended stays a gap.
   *
   * @throws invalid after the others were appended
   */
  readonly fromOutbox: (deliveries: readonly Delivery[]) => Promise<void>;
}

export function decisionReceiver({
  pool,
  metrics,
}: {
  readonly pool: Pool;
  readonly metrics: Metrics;
}): DecisionReceiver {
  const counter = metrics.counter("lapse_decisions_total", "Decisions taken into the log", [
    "type",
    "outcome",
  ]);
  const take = async (deliveries: readonly Delivery[], counts: "all" | "appended") => {
    const { readable, refused } = read(deliveries);
    const { records } = await appendDecisions(pool, [...readable.keys()], async (tx, appended) => {
      for (const decision of appended.misused) {
        const delivery = readable.get(decision);
        if (delivery) refused.set(delivery, idReused(decision));
      }
      const arrived = deliveries.filter((each) => counts === "all" || !refused.has(each));
      await trackSequences(tx, arrived.flatMap(numberOf));
    });
    for (const { type, outcome } of records) counter.inc({ type: typeLabel(type), outcome });
    return refused;
  };
  return {
    async fromStream(deliveries): Promise<HandlerResult> {
      const refused = await take(deliveries, "all");
      const parked = [...refused].map(([delivery, { reason, message }]) => ({
        delivery,
        reason: `${reason}: ${message}`,
      }));
      return { parked };
    },
    async fromOutbox(deliveries) {
      const [first] = (await take(deliveries, "appended")).values();
      if (first !== undefined) {
        throw first;
      }
    },
  };
}

function read(deliveries: readonly Delivery[]) {
  const readable = new Map<Decision, Delivery>();
  const refused = new Map<Delivery, LapseError>();
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
      refused.set(delivery, error);
    }
  }
  return { readable, refused };
}

function numberOf({ event: { source, sequence } }: Delivery) {
  return sequence === undefined ? [] : [{ source, stream: "DECISION", sequence }];
}

function idReused({ id }: Decision): LapseError {
  return invalid("DECISION_ID_REUSED", `another decision has the id ${id}`);
}
