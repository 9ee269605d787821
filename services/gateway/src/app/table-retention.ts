import type { MessageInitShape } from "@bufbuild/protobuf";
import { toLapseError } from "@lapse/kit";
import type { Table, TableRefSchema } from "@lapse/proto/catalog";
import type { TableExpiry } from "@lapse/proto/evaluator";
import type { TableRuleSchema } from "@lapse/proto/events";
import type { SetTableRetentionResponse } from "@lapse/proto/policy";
import type { Peers } from "../peers.ts";
import { type Call, reading, writing } from "./call.ts";
import { required } from "./required.ts";
import { settleRetentions } from "./settle-retentions.ts";
import { canExpire, seen } from "./table-expiry.ts";

export type TableRef = MessageInitShape<typeof TableRefSchema>;

/**
 * When a table expires and by which rule (T2), at least as new as the catalog's row of it; undefined: it is
 * of a kind that never does.
 *
 * @throws unavailable when the evaluator is away, or has not read the table's latest changes in time.
 */
export async function tableRetention(
  peers: Pick<Peers, "catalog" | "evaluator" | "policy">,
  call: Call,
  ref: TableRef,
): Promise<TableExpiry | undefined> {
  const { catalog, evaluator } = peers;
  const table = required((await catalog.getTable({ table: ref }, reading(call))).table, "table");
  if (!canExpire(table)) return undefined;
  const request = { tableId: table.tableId, atLeast: seen(table) };
  const ask = async () =>
    required((await evaluator.getTableExpiry(request, reading(call))).expiry, "expiry");
  try {
    return await ask();
  } catch (error) {
    if (toLapseError(error).reason !== "EVALUATOR_BEHIND") throw error;
    await settleRetentions(peers, call, [table]);
    return ask();
  }
}

/** What a change of a table's retention led to; the table as it was right before it. */
export interface RetentionSet {
  readonly table: Table;
  readonly answer: SetTableRetentionResponse;
}

/** Sets a table's retention (T3). All that forbids it is retention-policy's to say. */
export async function setTableRetention(
  { catalog, policy }: Pick<Peers, "catalog" | "policy">,
  call: Call,
  ref: TableRef,
  rule: MessageInitShape<typeof TableRuleSchema>,
): Promise<RetentionSet> {
  const table = required((await catalog.getTable({ table: ref }, reading(call))).table, "table");
  const request = { tableId: table.tableId, rule };
  return { table, answer: await policy.setTableRetention(request, writing(call)) };
}
