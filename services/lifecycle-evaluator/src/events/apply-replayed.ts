import {
  assertLease,
  type Delivery,
  type Logger,
  trackSequences,
  withTransaction,
} from "@lapse/kit";
import { FOLD_LEASE } from "../app/fold-lease.ts";
import { type ApplyDeps, numbersOf, unreadable } from "./apply-batch.ts";
import type { ReadMessage, StreamFold } from "./stream-fold.ts";

/**
 * Folds events that a stream has lost and their publisher sent again. They have no place in the stream, so
 * the position stays. One that can never be read is logged and counts as come: waiting for it would hold
 * the sweeps for ever.
 */
export async function applyReplayed<M>(
  { pool, token, log }: ApplyDeps & { readonly log: Logger },
  fold: StreamFold<M>,
  deliveries: readonly Delivery[],
): Promise<void> {
  const messages: ReadMessage<M>[] = [];
  for (const delivery of deliveries) {
    try {
      const message = fold.read(delivery);
      if (message !== null) {
        messages.push({ delivery, message });
      }
    } catch (error) {
      const { subject, event } = delivery;
      log.error(
        { err: unreadable(error), subject, id: event.id },
        "a replayed event cannot be used",
      );
    }
  }
  const applied = await withTransaction(pool, async (tx) => {
    await assertLease(tx, FOLD_LEASE, token);
    await trackSequences(tx, numbersOf(fold, deliveries));
    return fold.apply(tx, messages);
  });
  applied.count();
}
