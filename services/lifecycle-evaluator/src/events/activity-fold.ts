import { LapseError } from "@lapse/kit";
import type { Fence } from "../app/fence.ts";
import { type AwaitCatalog, foldActivity } from "../app/fold-activity.ts";
import type { ActivityMessage, RefusedActivity } from "../domain/activity-message.ts";
import type { EvaluatorMetrics } from "../metrics.ts";
import { readActivityMessage } from "./activity-message.ts";
import type { ReadMessage, Refusal, StreamFold } from "./stream-fold.ts";

/** How long activity on a table by an unknown name waits for the catalog's events. */
const CATALOG_WITHIN_MS = 2_000;

/** Folds `activity.>`: what is used, and when (T13, T14). */
export function activityFold({
  fence,
  metrics,
  signal,
}: {
  readonly fence: Fence;
  readonly metrics: Pick<EvaluatorMetrics, "clamped">;
  readonly signal: AbortSignal;
}): StreamFold<ActivityMessage> {
  const awaitCatalog: AwaitCatalog = async () => {
    try {
      await fence.passStream("CATALOG", { timeoutMs: CATALOG_WITHIN_MS, signal });
    } catch (error) {
      // Then the name is looked up as things are; what is still unknown is parked and can be tried again.
      if (!(error instanceof LapseError && error.kind === "unavailable")) {
        throw error;
      }
    }
  };
  return {
    stream: "ACTIVITY",
    source: null,
    read: readActivityMessage,
    async apply(tx, read) {
      const messages = read.map(({ message }) => message);
      const { refused, clamped } = await foldActivity(tx, messages, awaitCatalog);
      return { refused: refusals(read, refused), count: () => metrics.clamped.inc(clamped) };
    },
  };
}

/** One refusal per message, however many of its activities could not be counted. */
function refusals(
  read: readonly ReadMessage<ActivityMessage>[],
  refused: readonly RefusedActivity[],
): readonly Refusal[] {
  if (refused.length === 0) {
    return [];
  }
  const byMessage = new Map<ActivityMessage, string[]>();
  for (const { message, reason } of refused) {
    const reasons = byMessage.get(message);
    if (reasons === undefined) byMessage.set(message, [reason]);
    else reasons.push(reason);
  }
  return read.flatMap(({ delivery, message }) => {
    const reasons = byMessage.get(message) ?? [];
    const [first] = reasons;
    return first === undefined
      ? []
      : { delivery, reason: reasonFor(reasons.length, message.activities.length, first) };
  });
}

function reasonFor(refused: number, all: number, first: string): string {
  return all === 1
    ? `ACTIVITY_REFUSED: ${first}`
    : `ACTIVITY_REFUSED: ${refused} of ${all} activities; the first: ${first}`;
}
