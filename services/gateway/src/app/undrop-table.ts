import { notFound } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import { TableState } from "@lapse/proto/events";
import type { Peers } from "../peers.ts";
import { type Call, reading, writing } from "./call.ts";
import { required } from "./required.ts";
import type { TableRef } from "./table-retention.ts";

/** A dropped table to bring back. */
export interface Undrop {
  readonly ref: TableRef;
  /** Its new name; empty: its own. */
  readonly as: string;
  /** What the path says of a table given by id: one that is elsewhere is not there. */
  readonly expected?: Place;
}

interface Place {
  readonly environment: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Brings a dropped table back (T28). */
export async function undropTable(
  { catalog }: Pick<Peers, "catalog">,
  call: Call,
  { ref, as, expected }: Undrop,
): Promise<Table> {
  if (expected) {
    const { table } = await catalog.getTable({ table: ref }, reading(call));
    refuseElsewhere(required(table, "table"), expected);
  }
  const answer = await catalog.undropTable({ table: ref, asName: as }, writing(call));
  return required(answer.table, "table");
}

/** A table that is back already may have another name: then it is the catalog's to tell a repeat from a mistake. */
function refuseElsewhere(table: Table, expected: Place): void {
  const { environment, namespace, name, tableId } = table;
  const back = table.state === TableState.LIVE;
  const elsewhere =
    expected.environment !== environment ||
    (!back && (expected.namespace ?? namespace) !== namespace) ||
    (!back && (expected.name ?? name) !== name);
  if (!elsewhere) return;
  throw notFound(
    "TABLE_NOT_FOUND",
    `table ${tableId} is ${namespace}.${name} in ${environment}; undrop it there`,
  );
}
