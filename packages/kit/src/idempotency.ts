import { createHash } from "node:crypto";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { precondition } from "./errors.ts";
import type { Queryable } from "./postgres.ts";
import type { CallContext } from "./rpc/types.ts";

/** One call as its caller names it. */
export interface IdempotentCall {
  /** From metadata `idempotency-key`; without one the call is not remembered. */
  readonly key: string | undefined;
  readonly tenant: string;
  /** `lapse.catalog.v1.CatalogService/CreateTable`. */
  readonly method: string;
  readonly requestBytes: Uint8Array;
}

/** A gRPC call as {@link once} remembers it. */
export function idempotentCallOf({
  idempotencyKey,
  principal: { subject, tenant },
  method,
  requestBytes,
}: Pick<CallContext, "idempotencyKey" | "principal" | "method" | "requestBytes">): IdempotentCall {
  // A key belongs to who made it: nobody gets an answer to a call that they might not have been allowed.
  const key = idempotencyKey && `${subject} ${idempotencyKey}`;
  return { key, tenant, method, requestBytes };
}

/**
 * Runs `work` in the caller's transaction, at most once per key, method and tenant for a day: a repeated call
 * gets the stored answer, and one that comes while the first is under way waits for it. Nothing is stored
 * when the transaction fails.
 *
 * @throws precondition `IDEMPOTENCY_KEY_REUSED` when the key came with another request before.
 */
export async function once<Desc extends DescMessage>(
  tx: Queryable,
  { key, tenant, method, requestBytes }: IdempotentCall,
  schema: Desc,
  work: () => Promise<MessageInitShape<Desc>>,
): Promise<MessageShape<Desc>> {
  if (key === undefined) return create(schema, await work());
  const hash = createHash("sha256").update(requestBytes).digest();
  const id = [tenant, method, key];
  const { rowCount } = await tx.query(
    `insert into lapse_kit.idempotency (tenant, method, key, request_hash)
     values ($1, $2, $3, $4) on conflict do nothing`,
    [...id, hash],
  );
  if (rowCount === 0) return storedResponse(tx, id, hash, schema);
  const response = create(schema, await work());
  await tx.query(
    `update lapse_kit.idempotency set response = $4
     where tenant = $1 and method = $2 and key = $3`,
    [...id, Buffer.from(toBinary(schema, response))],
  );
  return response;
}

async function storedResponse<Desc extends DescMessage>(
  tx: Queryable,
  id: readonly string[],
  hash: Buffer,
  schema: Desc,
): Promise<MessageShape<Desc>> {
  const { rows } = await tx.query<{ request_hash: Buffer; response: Buffer }>(
    `select request_hash, response from lapse_kit.idempotency
     where tenant = $1 and method = $2 and key = $3`,
    [...id],
  );
  const [row] = rows;
  if (row?.request_hash.equals(hash)) return fromBinary(schema, row.response);
  throw precondition(
    "IDEMPOTENCY_KEY_REUSED",
    "this idempotency key came with another request before: use a new key for a new request",
  );
}
