import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { type CallContext, once } from "@lapse/kit";
import type { Call } from "../app/call.ts";

/**
 * The call of a use case that changes something, as the handler of a gRPC method makes it: a repeat with the same
 * idempotency key gets the first answer again.
 */
export const idempotentCall = <Result, Desc extends DescMessage>(
  context: CallContext,
  schema: Desc,
  render: (result: Result) => MessageInitShape<Desc>,
): Call<Result, MessageInitShape<Desc>> => ({
  principal: context.principal,
  traceparent: context.traceparent,
  signal: context.signal,
  answer: (tx, work) =>
    once(
      tx,
      {
        // A key belongs to who made it: nobody gets an answer to a call that they might not have been allowed.
        key: context.idempotencyKey && `${context.principal.subject} ${context.idempotencyKey}`,
        tenant: context.principal.tenant,
        method: context.method,
        requestBytes: context.requestBytes,
      },
      schema,
      async () => render(await work()),
    ),
});
