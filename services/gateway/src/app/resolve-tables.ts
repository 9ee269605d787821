import { type FieldViolation, LapseError, notFound } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import type { Peers } from "../peers.ts";
import { type Call, reading } from "./call.ts";
import { inParallel } from "./in-parallel.ts";
import { required } from "./required.ts";
import type { TableRef } from "./table-retention.ts";

/** A table as a caller names it, and where in the request they do. */
export interface NamedTable {
  readonly table: TableRef;
  /** JSON pointer, e.g. `/events/3/table`. */
  readonly pointer: string;
}

const LOOK_UPS_AT_ONCE = 32;

/**
 * The tables that are meant, in order; one that is named often is looked up once.
 *
 * @throws notFound `TABLE_NOT_FOUND` naming every table that is not there.
 */
export async function resolveTables(
  { catalog }: Pick<Peers, "catalog">,
  call: Call,
  named: readonly NamedTable[],
): Promise<Table[]> {
  const distinct = [...new Map(named.map(({ table }) => [keyOf(table), table]))];
  const found = await inParallel(distinct, LOOK_UPS_AT_ONCE, async ([key, table]) => {
    try {
      return [
        key,
        required((await catalog.getTable({ table }, reading(call))).table, "table"),
      ] as const;
    } catch (error) {
      if (error instanceof LapseError && error.kind === "not_found") return [key, error] as const;
      throw error;
    }
  });
  const byKey = new Map<string, Table | LapseError>(found);
  const tables: Table[] = [];
  const violations: FieldViolation[] = [];
  for (const { table, pointer } of named) {
    const result = byKey.get(keyOf(table));
    if (result instanceof LapseError) {
      violations.push({ field: pointer, description: result.message });
    } else if (result) tables.push(result);
  }
  if (violations.length === 0) return tables;
  const count = violations.length === 1 ? "a table" : `${violations.length} of the tables`;
  throw notFound("TABLE_NOT_FOUND", `${count} cannot be found; nothing was done`, { violations });
}

const keyOf = ({ ref }: TableRef): string =>
  ref?.case === "name"
    ? JSON.stringify([ref.value.environment, ref.value.namespace, ref.value.name])
    : String(ref?.value);
