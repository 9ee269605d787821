import { appendDecision, databaseClock, type MissingRange, type Queryable } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";

/** The chain for what concerns no one tenant. */
const SYSTEM = "*";

/** Records that decisions are gone for good: sent, never arrived, and kept by their source no more. */
export async function recordLoss(tx: Queryable, { source, from, to }: MissingRange): Promise<void> {
  await appendDecision(
    tx,
    {
      service: SERVICE,
      tenant: SYSTEM,
      type: "DECISIONS_LOST",
      resource: { kind: "outbox", id: source },
      outcome: "failed",
      reason: "not_kept",
      details: { source, from_sequence: String(from), to_sequence: String(to) },
    },
    await databaseClock(tx).now(),
  );
}
