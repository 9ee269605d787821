import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type CallContext, forwardFrom, type GrpcClient } from "@lapse/kit";
import type { LifecycleEvaluatorService, SeenVersions } from "@lapse/proto/evaluator";

/** When a table expires by all that had happened to it when it was asked (T6). */
export interface FormerExpiry {
  readonly lastActivityAt: Date | null;
  /** Null: it does not expire. */
  readonly expiresAt: Date | null;
}

/** The least that the evaluator's answer must have seen. */
export type Versions = Pick<SeenVersions, "changeVersion" | "retentionVersion" | "policyVersion">;

export interface Evaluator {
  /** Null: it did not answer, or cannot say yet; the log says why. */
  expiryNow(tableId: string, atLeast: Versions, call: CallContext): Promise<FormerExpiry | null>;
}

/** The caller is told within two seconds, whether the evaluator cannot say or cannot be reached (T6). */
const DEADLINE_MS = 1_500;

export function evaluatorPeer(client: GrpcClient<typeof LifecycleEvaluatorService>): Evaluator {
  return {
    async expiryNow(tableId, atLeast, call) {
      try {
        const { expiry } = await client.getTableExpiry(
          { tableId, atLeast, consistent: true },
          { ...forwardFrom(call), deadlineMs: DEADLINE_MS },
        );
        const { lastActivityAt, expiresAt } = expiry ?? {};
        return {
          lastActivityAt: lastActivityAt ? timestampDate(lastActivityAt) : null,
          expiresAt: expiresAt ? timestampDate(expiresAt) : null,
        };
      } catch (error) {
        call.log.warn({ err: error, table_id: tableId }, "the former expiry is not to be had");
        return null;
      }
    },
  };
}
