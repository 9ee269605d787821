import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  SetEnvironmentRetentionResponseSchema,
  SetTableRetentionResponseSchema,
} from "@lapse/proto/policy";
import type { Expiry } from "@lapse/rules";
import type { StoredEnvironmentRetention } from "../store/environment-retention.ts";
import type { StoredTableRetention } from "../store/table-retention.ts";
import { toEnvironmentRetentionMessage, toTableRetentionMessage } from "./retention.ts";

/** A table's retention as it was set, and what comes of it. */
export interface TableRetentionSet {
  readonly stored: StoredTableRetention;
  readonly expiry: Expiry;
  readonly lastActivityAt: Date;
  /** Null: the former expiry was not to be had. */
  readonly shortened: boolean | null;
}

/** An environment's retention as it was set. */
export interface EnvironmentRetentionSet {
  readonly stored: StoredEnvironmentRetention;
  /** Null: it had none. */
  readonly previousDays: number | null;
}

export function toSetTableRetentionResponse({
  stored,
  expiry,
  lastActivityAt,
  shortened,
}: TableRetentionSet): MessageInitShape<typeof SetTableRetentionResponseSchema> {
  const retention = toTableRetentionMessage(stored);
  return {
    ...(retention && { retention }),
    ...(shortened !== null && { shortened }),
    ...(expiry.expiresAt && { expiresAt: timestampFromDate(expiry.expiresAt) }),
    lastActivityAt: timestampFromDate(lastActivityAt),
  };
}

export function toSetEnvironmentRetentionResponse({
  stored,
  previousDays,
}: EnvironmentRetentionSet): MessageInitShape<typeof SetEnvironmentRetentionResponseSchema> {
  const retention = toEnvironmentRetentionMessage(stored);
  return {
    ...(retention && { retention }),
    ...(previousDays !== null && { previousDays }),
  };
}
