export const HOLD_KINDS = ["write", "pipeline_task"] as const;
export type HoldKind = (typeof HOLD_KINDS)[number];

/** A lease that keeps a table from being dropped while its holder works on it (T21). */
export interface Hold {
  readonly holdId: string;
  readonly tableId: string;
  readonly tenant: string;
  readonly kind: HoldKind;
  /** The principal that took it and renews it. */
  readonly holder: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Holds on one table at most: a runaway client must not fill the catalog. */
export const MAX_HOLDS_PER_TABLE = 1_000;

/** Whether it still holds; at its end it does not. */
export const isActive = (hold: Hold, now: Date): boolean => now < hold.expiresAt;
