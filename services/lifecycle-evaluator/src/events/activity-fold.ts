import { LapseError } from "@lapse/kit";
import type { Fence } from "../app/fence.ts";
import { type AwaitCatalog, foldActivity } from "../app/fold-activity.ts";
import type { ActivityMessage, RefusedActivity } from "../domain/activity-message.ts";
import type { EvaluatorMetrics } from "../metrics.ts";
import { activityPart, readActivityMessage } from "./activity-message.ts";
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

/**
 * One refusal per message, of the activities that could not be counted: the others are not to count again
 * when it is tried again.
 */
function refusals(
  read: readonly ReadMessage<ActivityMessage>[],
  refused: readonly RefusedActivity[],
): readonly Refusal[] {
  if (refused.length === 0) {
    return [];
  }
  const byMessage = new Map<ActivityMessage, RefusedActivity[]>();
  for (const each of refused) {
    const own = byMessage.get(each.message);
    if (own === undefined) byMessage.set(each.message, [each]);
    else own.push(each);
  }
  return read.flatMap(({ delivery, message }) => {
    const own = byMessage.get(message);
    return own === undefined ? [] : { delivery, ...refusalOf(message, own) };
  });
}

function refusalOf(
  message: ActivityMessage,
  refused: readonly RefusedActivity[],
): Pick<Refusal, "reason" | "part"> {
  const reasons = [...new Set(refused.map(({ reason }) => reason))].join("; ");
  if (refused.length === message.activities.length) {
    return { reason: `ACTIVITY_REFUSED: ${reasons}` };
  }
  return {
    reason: `ACTIVITY_REFUSED: ${refused.length} of ${message.activities.length} activities: ${reasons}`,
    part: activityPart(
      message,
      refused.map(({ activity }) => activity),
    ),
  };
}
