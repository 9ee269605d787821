/** Why uses of tables did not reach the stream. */
export type NotStoredReason =
  /** NATS, or the stream, did not take them in time. */
  | "gave_up"
  /** As many uses as may wait do so already: nothing was done with this one. */
  | "buffer_full"
  /** The publisher, or the connection under it, is closed. */
  | "closed";

/** Uses of tables that were not, or not surely, stored: tell them again, or a table may be taken for unused. */
export class ActivityNotStoredError extends Error {
  override readonly name = "ActivityNotStoredError";
  readonly reason: NotStoredReason;
  /** True where an attempt got no answer: they may be stored all the same, and telling them again counts reads twice. */
  readonly mayBeStored: boolean;

  constructor(
    message: string,
    options: {
      readonly reason: NotStoredReason;
      readonly mayBeStored?: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = options.reason;
    this.mayBeStored = options.mayBeStored ?? false;
  }
}
