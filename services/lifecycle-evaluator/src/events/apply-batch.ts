import {
  assertLease,
  type Delivery,
  type EventNumber,
  type FoldBatch,
  invalid,
  LapseError,
  type Pool,
  type Queryable,
  sqlState,
  trackSequences,
  withTransaction,
} from "@lapse/kit";
import { FOLD_LEASE } from "../app/fold-lease.ts";
import { advancePosition } from "../store/fold-positions.ts";
import type { Applied, ReadMessage, StreamFold } from "./stream-fold.ts";

/** What a batch is applied with. */
export interface ApplyDeps {
  readonly pool: Pool;
  /** Of the fold lease. */
  readonly token: bigint;
}

/**
 * Folds a batch together with the position after it and the numbers of its events: all in one transaction,
 * which commits only while the lease is held. What cannot be read or counted is parked before; it never
 * holds up its neighbours.
 */
export async function applyBatch<M>(
  { pool, token }: ApplyDeps,
  fold: StreamFold<M>,
  deliveries: readonly Delivery[],
  batch: FoldBatch,
): Promise<void> {
  const messages: ReadMessage<M>[] = [];
  for (const delivery of deliveries) {
    try {
      const message = fold.read(delivery);
      if (message !== null) {
        messages.push({ delivery, message });
      }
    } catch (error) {
      await batch.park(delivery, reasonOf(unreadable(error)));
    }
  }
  const inBatch = (apply: (tx: Queryable) => Promise<readonly Applied[]>) =>
    withTransaction(pool, async (tx) => {
      await assertLease(tx, FOLD_LEASE, token);
      await advancePosition(tx, batch);
      await trackSequences(tx, numbersOf(fold, deliveries));
      const applied = await apply(tx);
      for (const { delivery, reason, part } of applied.flatMap(({ refused }) => refused)) {
        await batch.park(delivery, reason, part);
      }
      return applied;
    });
  const applied = await inBatch(async (tx) => [await fold.apply(tx, messages)]).catch(
    (error: unknown) => {
      unfit(error);
      return inBatch((tx) => applyOneByOne(tx, fold, messages, batch));
    },
  );
  for (const { count } of applied) {
    count();
  }
}

/**
 * Some message is such that the database refuses it, although it could be read: that one is parked, and the
 * others count.
 */
async function applyOneByOne<M>(
  tx: Queryable,
  fold: StreamFold<M>,
  messages: readonly ReadMessage<M>[],
  batch: Pick<FoldBatch, "park">,
): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  for (const message of messages) {
    await tx.query("savepoint one_message");
    try {
      applied.push(await fold.apply(tx, [message]));
      await tx.query("release savepoint one_message");
    } catch (error) {
      const reason = reasonOf(unfit(error));
      await tx.query("rollback to savepoint one_message");
      await batch.park(message.delivery, reason);
    }
  }
  return applied;
}

/** Why a message can never be read; any other error is thrown, and the batch comes again. */
export function unreadable(error: unknown): LapseError {
  if (error instanceof LapseError && error.kind === "invalid") {
    return error;
  }
  throw error;
}

/** SQLSTATE classes of what a value is to blame for: data exception, constraint violation, limit exceeded. */
const DATA_FAULT = /^(22|23|54)/;

/**
 * Why the database refuses a message. Any other error is ours, not the message's: it is thrown, the batch
 * comes again, and nothing expires meanwhile.
 */
function unfit(error: unknown): LapseError {
  if (DATA_FAULT.test(sqlState(error) ?? "")) {
    return invalid("EVENT_REFUSED", `the database refuses it: ${String(error)}`, { cause: error });
  }
  throw error;
}

const reasonOf = ({ reason, message }: LapseError): string => `${reason}: ${message}`;

/** The places of events in their publisher's numbering. A number that somebody else claims does not count. */
export function numbersOf(
  { source, stream }: Pick<StreamFold<unknown>, "source" | "stream">,
  deliveries: readonly Delivery[],
): readonly EventNumber[] {
  return deliveries.flatMap(({ event }) =>
    source !== null && event.source === source && event.sequence !== undefined
      ? { source, stream, sequence: event.sequence }
      : [],
  );
}
