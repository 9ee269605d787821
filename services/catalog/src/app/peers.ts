import type { DueConfirmation } from "../domain/due.ts";

/** What the catalog asks of the lifecycle-evaluator. */
export interface Evaluator {
  /**
   * Whether these tables are due on everything that had reached the streams when it was asked, by table id; a table
   * may be missing.
   *
   * @throws unavailable when that cannot be said now.
   */
  confirmTablesDue(tableIds: readonly string[]): Promise<ReadonlyMap<string, DueConfirmation>>;
}

/** What the catalog asks of retention-policy: to bring its rule up to the version the catalog holds. */
export interface RetentionPolicy {
  settleTable(table: {
    readonly tableId: string;
    readonly tenant: string;
    readonly environmentId: string;
    readonly retentionVersion: bigint;
  }): Promise<void>;
  settleEnvironment(environment: {
    readonly environmentId: string;
    readonly tenant: string;
    readonly policyVersion: bigint;
  }): Promise<void>;
}
