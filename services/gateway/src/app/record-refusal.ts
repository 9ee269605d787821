import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RecordRefusalRequestSchema } from "@lapse/proto/catalog";
import type { Peers } from "../peers.ts";
import type { Call } from "./call.ts";

/** A right or a role that was missing, and on what. */
export type Refusal = Omit<
  MessageInitShape<typeof RecordRefusalRequestSchema>,
  "$typeName" | "method"
>;

/**
 * Records a refusal of the gateway's own as `AUTHORIZATION_DENIED`: it has no outbox, the catalog has. Others
 * refuse, and record, for themselves.
 *
 * @throws unavailable when it could not be recorded: then that is the answer, not the refusal.
 */
export async function recordRefusal(
  { access }: Pick<Peers, "access">,
  { principal, method, traceparent }: Call,
  refusal: Refusal,
): Promise<void> {
  await access.recordRefusal({ ...refusal, method }, { principal, traceparent });
}
