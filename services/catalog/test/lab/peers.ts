import type { Queryable } from "@lapse/kit";
import type { Evaluator, RetentionPolicy } from "../../src/app/peers.ts";
import type { DueConfirmation, ExpiredRetention } from "../../src/domain/due.ts";
import { findTable } from "../../src/store/tables.ts";

/** An evaluator that takes every table for due, at the versions it has, unless told otherwise. */
export interface LabEvaluator extends Evaluator {
  /** The batches it was asked for. */
  readonly asked: (readonly string[])[];
  /** Changes the answer about a table; undefined leaves it out. */
  answer(change: (tableId: string, usual: DueConfirmation) => DueConfirmation | undefined): void;
}

export const A_RETENTION: ExpiredRetention = {
  source: "table",
  rule: { kind: "days", days: 3 },
  setBy: "ana",
  lastActivityAt: new Date("2026-01-01T00:00:00.000Z"),
  expiredAt: new Date("2026-01-04T00:00:00.000Z"),
};

export function labEvaluator(db: Queryable): LabEvaluator {
  const asked: (readonly string[])[] = [];
  let change: (tableId: string, usual: DueConfirmation) => DueConfirmation | undefined = (
    _,
    usual,
  ) => usual;
  return {
    asked,
    answer(given) {
      change = given;
    },
    async confirmTablesDue(tableIds) {
      asked.push(tableIds);
      const confirmations = new Map<string, DueConfirmation>();
      for (const tableId of tableIds) {
        const found = await findTable(db, tableId);
        const usual: DueConfirmation = {
          due: true,
          seen: {
            changeVersion: found?.table.changeVersion ?? 0n,
            retentionVersion: found?.table.retentionVersion ?? 0n,
            policyVersion: found?.environment.policyVersion ?? 0n,
          },
          retention: A_RETENTION,
        };
        const confirmation = change(tableId, usual);
        if (confirmation) confirmations.set(tableId, confirmation);
      }
      return confirmations;
    },
  };
}

/** A retention-policy that notes what it was asked to settle. */
export interface LabRetentionPolicy extends RetentionPolicy {
  readonly tables: { tableId: string; retentionVersion: bigint }[];
  readonly environments: { environmentId: string; policyVersion: bigint }[];
  fail(error: Error | undefined): void;
}

export function labRetentionPolicy(): LabRetentionPolicy {
  let failure: Error | undefined;
  const tables: LabRetentionPolicy["tables"] = [];
  const environments: LabRetentionPolicy["environments"] = [];
  return {
    tables,
    environments,
    fail(error) {
      failure = error;
    },
    async settleTable({ tableId, retentionVersion }) {
      if (failure) throw failure;
      tables.push({ tableId, retentionVersion });
    },
    async settleEnvironment({ environmentId, policyVersion }) {
      if (failure) throw failure;
      environments.push({ environmentId, policyVersion });
    },
  };
}
