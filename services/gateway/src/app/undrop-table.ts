import { notFound } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
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
  readonly expected?: {
    readonly environment: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** Brings a dropped table back (T28). */
export async function undropTable(
  { catalog }: Pick<Peers, "catalog">,
  call: Call,
  { ref, as, expected }: Undrop,
): Promise<Table> {
  if (expected) {
    const table = required((await catalog.getTable({ table: ref }, reading(call))).table, "table");
    const differs = Object.entries(expected).some(
      ([key, value]) => table[key as keyof typeof expected] !== value,
    );
    if (differs) {
      const { environment, namespace, name } = table;
      throw notFound(
        "TABLE_NOT_FOUND",
        `table ${table.tableId} is ${namespace}.${name} in ${environment}; undrop it there`,
      );
    }
  }
  const answer = await catalog.undropTable({ table: ref, asName: as }, writing(call));
  return required(answer.table, "table");
}
