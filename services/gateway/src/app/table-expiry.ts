import type { MessageInitShape } from "@bufbuild/protobuf";
import { toLapseError } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import type { SeenVersionsSchema, TableExpiry } from "@lapse/proto/evaluator";
import { TableKind, TableState } from "@lapse/proto/events";
import type { Peers } from "../peers.ts";
import { type Call, reading } from "./call.ts";
import { settleRetentions } from "./settle-retentions.ts";

/** A table with what is known of its expiry; `none`: it is of a kind or in a state that never expires. */
export interface TableView {
  readonly table: Table;
  readonly expiry: TableExpiry | "none" | "unknown";
}

/** A list is worth more than its expiries: it does not wait for them longer than this. */
const WAIT_MS = 1_500;

/**
 * The tables with their expiry, in order. Where the evaluator is away or has not read a table's latest
 * changes, its expiry is `unknown`; that never fails the whole (T12).
 */
export async function withExpiry(
  peers: Pick<Peers, "evaluator" | "policy">,
  call: Call,
  tables: readonly Table[],
): Promise<TableView[]> {
  const asked = tables.filter(canExpire);
  const answered = await expiries(peers.evaluator, call, asked);
  const known = answered ?? new Map<string, TableExpiry>();
  const behind = answered ? asked.filter(({ tableId }) => !answered.has(tableId)) : [];
  if (behind.length > 0) await settleRetentions(peers, call, behind);
  return tables.map((table) => ({
    table,
    expiry: canExpire(table) ? (known.get(table.tableId) ?? "unknown") : "none",
  }));
}

/** {@link withExpiry} of one table. */
export async function oneWithExpiry(
  peers: Pick<Peers, "evaluator" | "policy">,
  call: Call,
  table: Table,
): Promise<TableView> {
  const [view = { table, expiry: "unknown" }] = await withExpiry(peers, call, [table]);
  return view;
}

/** The least that an answer about `table` must have seen, so that a caller reads their own writes. */
export const seen = (table: Table): MessageInitShape<typeof SeenVersionsSchema> => ({
  changeVersion: table.changeVersion,
  retentionVersion: table.retentionVersion,
  policyVersion: table.environmentPolicyVersion,
});

/** Only managed tables have a retention (T22), and only while they are there. */
export const canExpire = ({ kind, state }: Table): boolean =>
  kind === TableKind.MANAGED && (state === TableState.LIVE || state === TableState.STAGED);

/** Undefined: the evaluator did not answer. */
async function expiries(
  evaluator: Peers["evaluator"],
  call: Call,
  tables: readonly Table[],
): Promise<ReadonlyMap<string, TableExpiry> | undefined> {
  if (tables.length === 0) return new Map();
  const request = tables.map((table) => ({ tableId: table.tableId, atLeast: seen(table) }));
  try {
    const answer = await evaluator.batchGetTableExpiry(
      { tables: request },
      reading(call, { deadlineMs: WAIT_MS }),
    );
    return new Map(answer.expiries.map((expiry) => [expiry.tableId, expiry]));
  } catch (thrown) {
    const error = toLapseError(thrown);
    call.log.warn({ reason: error.reason, tables: tables.length }, "expiries are not to be had");
    return undefined;
  }
}
