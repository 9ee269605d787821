import type { ConsumerMetrics } from "./consumer-metrics.ts";
import { type Handle, judge, reasonOf, type Verdict } from "./consumer-verdict.ts";
import { type Delivery, toDelivery } from "./delivery.ts";
import { toLapseError } from "./errors.ts";
import type { Logger } from "./log.ts";
import type { Nats } from "./nats.ts";
import { park } from "./park.ts";
import type { PulledMessage } from "./pulled-message.ts";

/** A message in hand. */
export interface Item {
  readonly message: PulledMessage;
  /** What stands for it before the handler; the reason to park it when it cannot be read. */
  readonly delivery: Delivery | { readonly unreadable: string };
}

export interface SettleDeps {
  readonly nats: Nats;
  readonly consumer: string;
  readonly handle: Handle;
  readonly metrics: ConsumerMetrics;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly firstDelayMs?: number | undefined;
  /** Called when a message is no longer ours. */
  release(message: PulledMessage): void;
}

/** Delivered this often, a message is suspected of ending its process, and is handled alone. */
const SUSPECT_AFTER = 10;
/** Delivered this often, it is parked unhandled. */
const CRASH_LOOP_AFTER = 50;

export function toItem(message: PulledMessage): Item {
  try {
    return { message, delivery: toDelivery(message.arrival()) };
  } catch (error) {
    return { message, delivery: { unreadable: reasonOf(toLapseError(error)) } };
  }
}

/** Has items handled and acknowledges, parks or gives back each; returns those to try again here later. */
export async function settle(items: readonly Item[], deps: SettleDeps): Promise<Item[]> {
  const held: Item[] = [];
  const { unreadable, groups } = arrange(items);
  for (const { item, reason } of unreadable) {
    if (!(await parked(item, reason, deps))) held.push(item);
  }
  for (const group of groups) {
    if (deps.signal.aborted) {
      held.push(...group.keys());
      continue;
    }
    const started = performance.now();
    const verdicts = await judge([...group.values()], deps.handle, deps);
    deps.metrics.seconds((performance.now() - started) / 1_000);
    for (const [item, delivery] of group) {
      const verdict = verdicts.get(delivery) ?? { kind: "done" };
      if (!(await carriedOut(item, verdict, deps))) held.push(item);
    }
  }
  return held;
}

type Group = ReadonlyMap<Item, Delivery>;

/**
 * Suspects go first and alone. Of those that seem to end every process that handles them only the first is
 * put aside unhandled: the others may have come back as often for having been in hand beside it.
 */
function arrange(items: readonly Item[]) {
  const unreadable: { item: Item; reason: string }[] = [];
  const suspects: Group[] = [];
  const rest = new Map<Item, Delivery>();
  let crashLoop = false;
  for (const item of [...items].sort(bySequence)) {
    const { delivery } = item;
    if ("unreadable" in delivery) unreadable.push({ item, reason: delivery.unreadable });
    else if (delivery.deliveryCount > CRASH_LOOP_AFTER && !crashLoop) {
      crashLoop = true;
      unreadable.push({ item, reason: crashLoopReason(delivery) });
    } else if (delivery.deliveryCount > SUSPECT_AFTER) {
      suspects.push(new Map([[item, delivery]]));
    } else rest.set(item, delivery);
  }
  return { unreadable, groups: rest.size > 0 ? [...suspects, rest] : suspects };
}

const bySequence = (a: Item, b: Item): number =>
  Number(a.message.streamSequence - b.message.streamSequence);

const crashLoopReason = ({ deliveryCount }: Delivery): string =>
  `CRASH_LOOP: delivered ${deliveryCount} times without an answer; it may end the process that handles it`;

/** Whether the item is dealt with. */
async function carriedOut(item: Item, verdict: Verdict, deps: SettleDeps): Promise<boolean> {
  const { message } = item;
  switch (verdict.kind) {
    case "done":
      message.ack();
      deps.metrics.processed(1);
      break;
    case "park":
      return parked(item, verdict.reason, deps);
    case "again":
      deps.log.warn({ err: verdict.error, ...about(message) }, "a message could not be handled");
      message.nak(verdict.delayMs);
      break;
    case "hold":
      return false;
  }
  deps.release(message);
  return true;
}

async function parked(item: Item, reason: string, deps: SettleDeps): Promise<boolean> {
  const { message } = item;
  try {
    await park(deps.nats, { message, consumer: deps.consumer, reason });
  } catch (error) {
    deps.log.warn({ err: error, ...about(message) }, "a message could not be parked");
    return false;
  }
  message.ack();
  deps.metrics.parked(1);
  deps.log.error({ reason, ...about(message) }, "a message was parked");
  deps.release(message);
  return true;
}

const about = ({ subject, stream, streamSequence, deliveryCount }: PulledMessage) => ({
  subject,
  stream,
  sequence: String(streamSequence),
  deliveries: deliveryCount,
});
