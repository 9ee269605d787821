import type { MessageInitShape } from "@bufbuild/protobuf";
import { isTransient, toLapseError } from "@lapse/kit";
import { CommitOperation, type CreateTableRequestSchema, type Table } from "@lapse/proto/catalog";
import type { Peers } from "../peers.ts";
import { type Call, reading, writing } from "./call.ts";
import { required } from "./required.ts";

/** A table to create. */
export type NewTable = Omit<MessageInitShape<typeof CreateTableRequestSchema>, "$typeName"> & {
  /** Its retention (T1). */
  readonly expireAfterDays: number | undefined;
};

/**
 * Creates a table. One with a retention is created staged and shown only once its retention is set, so
 * that a table meant to expire never lives for ever because the call that sets its retention was lost.
 * What is refused half-way leaves nothing behind; what fails because a service is away is finished by
 * repeating the call with its `Idempotency-Key`.
 */
export async function createTable(
  peers: Pick<Peers, "catalog" | "policy">,
  call: Call,
  { expireAfterDays, ...request }: NewTable,
): Promise<Table> {
  const staged = request.staged === true;
  const asked = { ...request, staged: staged || expireAfterDays !== undefined };
  const created = required((await peers.catalog.createTable(asked, writing(call))).table, "table");
  if (expireAfterDays === undefined) return created;
  try {
    return await withRetention(peers, call, created, expireAfterDays, staged);
  } catch (thrown) {
    const error = toLapseError(thrown);
    const repeatable = isTransient(error) && call.idempotencyKey !== undefined;
    if (!repeatable) await giveUp(peers, call, created);
    throw error;
  }
}

async function withRetention(
  { catalog, policy }: Pick<Peers, "catalog" | "policy">,
  call: Call,
  { tableId }: Table,
  days: number,
  staged: boolean,
): Promise<Table> {
  const rule = { rule: { case: "days", value: days } } as const;
  await policy.setTableRetention({ tableId, rule }, writing(call));
  const table = { ref: { case: "tableId", value: tableId } } as const;
  if (staged) return required((await catalog.getTable({ table }, reading(call))).table, "table");
  const commit = { table, operation: CommitOperation.APPEND };
  return required((await catalog.commitTable(commit, writing(call))).table, "table");
}

/** A staged table is seen by nobody and cleaned up in time, so a failure here is only worth a line in the log. */
async function giveUp({ catalog }: Pick<Peers, "catalog">, call: Call, { tableId }: Table) {
  const table = { ref: { case: "tableId", value: tableId } } as const;
  const { principal, traceparent } = call;
  try {
    await catalog.dropTable({ table }, { principal, traceparent });
  } catch (error) {
    call.log.warn({ err: error, table_id: tableId }, "a staged table was left to be cleaned up");
  }
}
