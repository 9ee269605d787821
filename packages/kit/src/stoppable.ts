/** Something that runs until it is told to stop. */
export interface Stoppable {
  /** Ends it and waits until it has ended; calling it again waits for the same end. */
  stop(): Promise<void>;
}

/** A Stoppable whose `end` runs once, however often and from wherever it is stopped. */
export function stoppable(end: () => Promise<void>): Stoppable {
  let ended: Promise<void> | undefined;
  return {
    stop() {
      ended ??= end();
      return ended;
    },
  };
}
