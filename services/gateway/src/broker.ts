import {
  discardParked,
  type Logger,
  listParked,
  type Nats,
  type ParkedMessage,
  type ParkedPage,
  retryParked,
  withStream,
} from "@lapse/kit";

/** What the gateway does with NATS. */
export interface Broker {
  readonly connected: boolean;
  /**
   * Resolves once the message is stored in the stream of activity; a repeat with the same id is kept once.
   *
   * @throws unavailable: it may have been stored all the same.
   */
  publishActivity(message: {
    readonly id: string;
    readonly subject: string;
    readonly body: Uint8Array;
    readonly headers: Readonly<Record<string, string>>;
  }): Promise<void>;
  /** Messages that a consumer set aside, the oldest first. */
  listParked(page: {
    readonly stream: string | undefined;
    readonly after: bigint;
    readonly limit: number;
  }): Promise<ParkedPage>;
  /** @throws notFound `PARKED_NOT_FOUND` */
  retryParked(sequence: bigint): Promise<ParkedMessage>;
  /** @throws notFound `PARKED_NOT_FOUND` */
  discardParked(
    sequence: bigint,
    why: { readonly actor: string; readonly reason: string; readonly log: Logger },
  ): Promise<ParkedMessage>;
}

export const natsBroker = (nats: Nats): Broker => ({
  get connected() {
    return nats.connected;
  },
  async publishActivity({ id, subject, body, headers }) {
    await withStream(nats, "ACTIVITY", () => nats.publish(subject, body, headers, { msgId: id }));
  },
  listParked: ({ stream, ...page }) =>
    withStream(nats, "PARKED", () =>
      listParked(nats, stream === undefined ? page : { stream, ...page }),
    ),
  retryParked: (sequence) => withStream(nats, "PARKED", () => retryParked(nats, sequence)),
  discardParked: (sequence, why) =>
    withStream(nats, "PARKED", () => discardParked(nats, sequence, why)),
});
