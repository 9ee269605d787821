import type { Delivery } from "./delivery.ts";
import { isTransient, LapseError, toLapseError } from "./errors.ts";

/** What a handler may say about single deliveries of a batch that it otherwise dealt with. */
export interface HandlerResult {
  readonly parked: readonly { readonly delivery: Delivery; readonly reason: string }[];
}

export type Handle = (
  deliveries: readonly Delivery[],
) => Promise<HandlerResult | undefined> | Promise<void>;

/** What becomes of a delivery once the handler has had it. */
export type Verdict =
  | { readonly kind: "done" }
  /** Put aside; it would fail for ever. */
  | { readonly kind: "park"; readonly reason: string }
  /** Kept in hand and tried again here: what it depends on is away, and that is not its fault. */
  | { readonly kind: "hold"; readonly error: LapseError }
  /** Given back to the broker, which counts. */
  | { readonly kind: "again"; readonly error: LapseError; readonly delayMs: number };

const PARK_AFTER_DELIVERIES = 5;
const FIRST_DELAY_MS = 1_000;
const GIVE_UP_AFTER = 3;

export interface JudgeOptions {
  readonly signal?: AbortSignal;
  /** Before the second delivery; it doubles with each. 1 s unless given. */
  readonly firstDelayMs?: number | undefined;
}

/**
 * Has a batch handled and says what becomes of each delivery. A batch that fails is handled one by one, so
 * that a poisonous message harms no neighbour; once several in a row fail because something is away, or once
 * `signal` is aborted, the rest is not even tried.
 */
export async function judge(
  deliveries: readonly Delivery[],
  handle: Handle,
  { signal, firstDelayMs = FIRST_DELAY_MS }: JudgeOptions = {},
): Promise<ReadonlyMap<Delivery, Verdict>> {
  const whole = await attempt(deliveries, handle);
  if (!(whole instanceof LapseError)) return whole;
  const [only] = deliveries;
  if (only && deliveries.length === 1)
    return new Map([[only, verdictOf(only, whole, firstDelayMs)]]);

  const verdicts = new Map<Delivery, Verdict>();
  let held = 0;
  for (const delivery of deliveries) {
    if (held >= GIVE_UP_AFTER || signal?.aborted) {
      verdicts.set(delivery, { kind: "hold", error: whole });
      continue;
    }
    const outcome = await attempt([delivery], handle);
    const verdict =
      outcome instanceof LapseError
        ? verdictOf(delivery, outcome, firstDelayMs)
        : (outcome.get(delivery) ?? { kind: "done" });
    verdicts.set(delivery, verdict);
    held = verdict.kind === "hold" ? held + 1 : 0;
  }
  return verdicts;
}

async function attempt(
  deliveries: readonly Delivery[],
  handle: Handle,
): Promise<ReadonlyMap<Delivery, Verdict> | LapseError> {
  try {
    const result = await handle(deliveries);
    const verdicts = new Map<Delivery, Verdict>(deliveries.map((each) => [each, { kind: "done" }]));
    for (const { delivery, reason } of result?.parked ?? []) {
      verdicts.set(delivery, { kind: "park", reason });
    }
    return verdicts;
  } catch (error) {
    return toLapseError(error);
  }
}

/** What an error of the handler means for the one delivery that it had. */
function verdictOf({ deliveryCount }: Delivery, error: LapseError, firstDelayMs: number): Verdict {
  // A login that is refused is ours, and as little the message's fault as a database that is away.
  if (isTransient(error) || error.kind === "unauthenticated") return { kind: "hold", error };
  if (error.kind === "invalid" || deliveryCount >= PARK_AFTER_DELIVERIES) {
    return { kind: "park", reason: reasonOf(error) };
  }
  return { kind: "again", error, delayMs: firstDelayMs * 2 ** (deliveryCount - 1) };
}

/** For people and for `lapse-park-reason`: the slug, then the sentence. */
export const reasonOf = ({ reason, message }: LapseError): string => `${reason}: ${message}`;
