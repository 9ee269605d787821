import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  type CallContext,
  idempotentCallOf,
  once,
  type Pool,
  type Queryable,
  withTransaction,
} from "@lapse/kit";

/**
 * The answer that the same call, by its idempotency key, got before; null: none. Asked before anything is
 * touched, because a touch that no commit follows keeps a table until a sweep has it settled.
 *
 * @throws precondition `IDEMPOTENCY_KEY_REUSED`
 */
export async function answeredBefore<Desc extends DescMessage>(
  pool: Pool,
  call: CallContext,
  schema: Desc,
): Promise<MessageShape<Desc> | null> {
  if (call.idempotencyKey === undefined) {
    return null;
  }
  const none = new Error("not answered before");
  try {
    return await withTransaction(pool, (tx) =>
      once(tx, idempotentCallOf(call), schema, () => Promise.reject(none)),
    );
  } catch (error) {
    if (error === none) {
      return null;
    }
    throw error;
  }
}

/**
 * Runs `work` and remembers its answer for the call's idempotency key. Where the same call was answered between
 * {@link answeredBefore} and now, that answer is given and `repeated` runs instead.
 */
export async function answerOnce<Desc extends DescMessage>(
  tx: Queryable,
  call: CallContext,
  schema: Desc,
  run: {
    readonly work: () => Promise<MessageInitShape<Desc>>;
    readonly repeated: () => Promise<void>;
  },
): Promise<MessageShape<Desc>> {
  let isFirst = false;
  const answer = await once(tx, idempotentCallOf(call), schema, () => {
    isFirst = true;
    return run.work();
  });
  if (!isFirst) {
    await run.repeated();
  }
  return answer;
}
