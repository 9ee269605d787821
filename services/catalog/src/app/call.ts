import type { Principal, Queryable } from "@lapse/kit";
import { recordRefusal, withTransaction } from "@lapse/kit";
import { SERVICE } from "../service-name.ts";
import { transactionTime } from "../store/now.ts";
import { AccessDenied } from "./access.ts";
import type { CatalogDeps } from "./deps.ts";

/** Who makes a call, and of which trace it is part. */
export interface Caller {
  readonly principal: Principal;
  readonly traceparent: string;
  /** The gRPC method, for the record of a refusal. */
  readonly method?: string;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
}

/** A call that changes something; `Result` is what the use case gives, `Answer` what the caller gets for it. */
export interface Call<Result, Answer> extends Caller {
  /**
   * Answers in the transaction of the change: the same idempotency key gives the first call's answer again without
   * running `work`.
   */
  answer(tx: Queryable, work: () => Promise<Result>): Promise<Answer>;
}

/**
 * Runs a change in one transaction, with the time of the database. `work` may run again after a lost race, so it has
 * no effect but through `tx`. A refused right is recorded afterwards, in a transaction of its own.
 */
export const change = <Result, Answer>(
  deps: CatalogDeps,
  call: Call<Result, Answer>,
  work: (tx: Queryable, now: Date) => Promise<Result>,
): Promise<Answer> =>
  recordingRefusals(deps, call, () =>
    withTransaction(deps.pool, (tx) =>
      call.answer(tx, async () => work(tx, await transactionTime(tx))),
    ),
  );

/** Runs `work`; where it refuses a right, the refusal is recorded before the caller hears of it. */
export async function recordingRefusals<T>(
  deps: CatalogDeps,
  { traceparent, method }: Pick<Caller, "traceparent" | "method">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AccessDenied) {
      const { principal, resource, right } = error;
      const refusal = { service: SERVICE, resource, traceparent, principal, right, method };
      await recordRefusal(deps.pool, refusal);
    }
    throw error;
  }
}
