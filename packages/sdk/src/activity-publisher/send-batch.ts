import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JetStreamClient, NatsConnection, NatsError } from "nats";
import { pauseMs } from "../http/pause.ts";
import type { Batch } from "./batch.ts";
import { ActivityNotStoredError } from "./errors.ts";
import { eventHeaders } from "./event-headers.ts";

export type Destination = {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly source: string;
  /** How long one attempt waits for the acknowledgement, in ms. */
  readonly ackTimeoutMs: number;
};

const STREAM = "ACTIVITY";
/** Codes of the client for a connection that will never be one again. */
const CLOSED: ReadonlySet<string> = new Set(["CONNECTION_CLOSED", "CONNECTION_DRAINING"]);
/** No answer: what was sent may have arrived. */
const UNANSWERED: ReadonlySet<string> = new Set(["TIMEOUT", "DISCONNECT", "CONNECTION_CLOSED"]);

/**
 * Publishes a batch and resolves once the stream has acknowledged it. What fails is repeated with the same
 * `Nats-Msg-Id`, so that the stream keeps one of it: while disconnected the client drops a message without a word,
 * and only a missing acknowledgement tells.
 *
 * @throws {ActivityNotStoredError} `gave_up`, `closed`
 */
export async function sendBatch(destination: Destination, batch: Batch): Promise<void> {
  const { connection, jetstream, source, ackTimeoutMs } = destination;
  const id = randomUUID();
  const body = batch.encode();
  const headers = await messageHeaders(eventHeaders({ id, source, time: new Date() }));
  const leftMs = () => batch.giveUpAt - performance.now();
  let mayBeStored = false;
  let cause: unknown = new Error("it waited too long for others before it");
  for (let failures = 1; leftMs() > 0; failures++) {
    try {
      await jetstream.publish(`activity.table.${batch.kind}`, body, {
        msgID: id,
        headers,
        expect: { streamName: STREAM },
        timeout: Math.max(1, Math.min(ackTimeoutMs, Math.ceil(leftMs()))),
      });
      return;
    } catch (error) {
      const code = (error as Partial<NatsError>).code ?? "";
      mayBeStored ||= UNANSWERED.has(code);
      if (connection.isClosed() || CLOSED.has(code)) {
        const message = "The connection to NATS is closed: open another one and tell it again.";
        throw new ActivityNotStoredError(message, { reason: "closed", mayBeStored, cause: error });
      }
      cause = error;
    }
    await delay(Math.min(pauseMs(failures), Math.max(0, leftMs())));
  }
  throw gaveUp(batch, mayBeStored, cause);
}

function gaveUp(batch: Batch, mayBeStored: boolean, cause: unknown) {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ActivityNotStoredError(
    `NATS did not take ${batch.uses} uses of tables in time (${why}). Check that it is the NATS of Lapse, then tell them again.`,
    { reason: "gave_up", mayBeStored, cause },
  );
}

/** The client is the caller's; only a program that publishes needs it. */
async function messageHeaders(values: Readonly<Record<string, string>>) {
  const { headers } = await import("nats");
  const made = headers();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
}
