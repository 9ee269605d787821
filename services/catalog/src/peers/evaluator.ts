import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { GrpcClient } from "@lapse/kit";
import type {
  LifecycleEvaluatorService,
  TableDueConfirmation,
  TableExpiry,
} from "@lapse/proto/evaluator";
import type { TableRule } from "@lapse/proto/events";
import type { Evaluator } from "../app/peers.ts";
import type { DueConfirmation, ExpiredRetention, RetentionRule } from "../domain/due.ts";

type Client = Pick<GrpcClient<typeof LifecycleEvaluatorService>, "confirmTablesDue">;

const MAX_TABLES_PER_CALL = 1_000;
/** The evaluator itself gives up after two seconds. */
const DEADLINE_MS = 5_000;

/** The lifecycle-evaluator over gRPC. */
export const evaluatorOver = (client: Client): Evaluator => ({
  async confirmTablesDue(tableIds) {
    const confirmations = new Map<string, DueConfirmation>();
    for (let from = 0; from < tableIds.length; from += MAX_TABLES_PER_CALL) {
      const response = await client.confirmTablesDue(
        { tableIds: tableIds.slice(from, from + MAX_TABLES_PER_CALL) },
        { deadlineMs: DEADLINE_MS },
      );
      for (const each of response.confirmations) {
        confirmations.set(each.tableId, toConfirmation(each));
      }
    }
    return confirmations;
  },
});

function toConfirmation({ due, seen, expiry }: TableDueConfirmation): DueConfirmation {
  return {
    due,
    seen: {
      changeVersion: seen?.changeVersion ?? 0n,
      retentionVersion: seen?.retentionVersion ?? 0n,
      policyVersion: seen?.policyVersion ?? 0n,
    },
    retention: expiry && toRetention(expiry),
  };
}

/** Undefined where anything that a drop is explained with is missing. */
function toRetention(expiry: TableExpiry): ExpiredRetention | undefined {
  const { source, rule, setBy, lastActivityAt, expiresAt } = expiry;
  const parsed = rule && toRule(rule);
  if ((source !== "table" && source !== "environment") || !parsed) return undefined;
  if (!lastActivityAt || !expiresAt) return undefined;
  return {
    source,
    rule: parsed,
    setBy,
    lastActivityAt: timestampDate(lastActivityAt),
    expiredAt: timestampDate(expiresAt),
  };
}

/** A rule that makes a table expire; `never` does not. */
function toRule({ rule }: TableRule): RetentionRule | undefined {
  switch (rule.case) {
    case "days":
      return { kind: "days", days: rule.value };
    case "on":
      return { kind: "on", on: rule.value };
    case "never":
    case undefined:
      return undefined;
  }
}
