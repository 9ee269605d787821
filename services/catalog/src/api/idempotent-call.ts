import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type CallContext, idempotentCallOf, once } from "@lapse/kit";
import type { Call } from "../app/call.ts";

/**
 * The call of a use case that changes something, as the handler of a gRPC method makes it: a repeat with the same
 * idempotency key gets the first answer again.
 */
export const idempotentCall = <Result, Desc extends DescMessage>(
  context: CallContext,
  schema: Desc,
  render: (result: Result) => MessageInitShape<Desc>,
): Call<Result, MessageShape<Desc>> => ({
  principal: context.principal,
  traceparent: context.traceparent,
  method: context.method,
  signal: context.signal,
  answer: (tx, work) =>
    once(tx, idempotentCallOf(context), schema, async () => render(await work())),
});
