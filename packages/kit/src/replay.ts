import type { ReplayOutboxResponse } from "@lapse/proto/common";
import { type Delivery, toDelivery } from "./delivery.ts";
import { lowerCaseNames } from "./delivery-headers.ts";
import type { Logger } from "./log.ts";

const BATCH = 100;

/**
 * Has replayed events handled in batches; one that fails does not keep the others back. Gives how many were
 * handled; the rest is in the log.
 */
export async function replayDeliveries(
  replay: AsyncIterable<ReplayOutboxResponse>,
  {
    stream,
    handle,
    log,
  }: {
    readonly stream: string;
    handle(deliveries: readonly Delivery[]): Promise<unknown>;
    readonly log: Logger;
  },
): Promise<number> {
  let count = 0;
  let batch: Delivery[] = [];
  const flush = async () => {
    count += await handleBatch(batch, handle, log);
    batch = [];
  };
  for await (const event of replay) {
    batch.push(replayedDelivery(stream, event));
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return count;
}

async function handleBatch(
  batch: readonly Delivery[],
  handle: (deliveries: readonly Delivery[]) => Promise<unknown>,
  log: Logger,
): Promise<number> {
  if (batch.length === 0) return 0;
  try {
    await handle(batch);
    return batch.length;
  } catch (error) {
    const [only] = batch;
    if (only && batch.length === 1) {
      const { subject, event } = only;
      log.error({ err: error, subject, id: event.id }, "a replayed event could not be handled");
      return 0;
    }
  }
  let count = 0;
  for (const delivery of batch) count += await handleBatch([delivery], handle, log);
  return count;
}

/** As if it had come from the stream, but without a place in it. */
function replayedDelivery(
  stream: string,
  { subject, headers: sent, body }: ReplayOutboxResponse,
): Delivery {
  const headers = lowerCaseNames(Object.entries(sent));
  const time = new Date(headers["ce-time"] ?? 0);
  return toDelivery({
    stream,
    subject,
    streamSequence: 0n,
    deliveryCount: 1,
    storedAt: time,
    headers,
    body,
  });
}
