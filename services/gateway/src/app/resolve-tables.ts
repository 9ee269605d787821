import { denied, type FieldViolation, LapseError, notFound } from "@lapse/kit";
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

/** References in one look-up, as many as the catalog takes. */
const REFS_A_CALL = 1_000;
const CALLS_AT_ONCE = 4;
/** Missing tables that are asked for one by one, to hear why. */
const ASKED_AGAIN = 20;

/** A table, or why there is none for this caller. */
type Found = Table | LapseError;

/**
 * The tables that are meant, in order; one that is named often is looked up once.
 *
 * @throws notFound `TABLE_NOT_FOUND` naming every table that is not there.
 * @throws denied `RIGHT_MISSING` where the catalog says, and has recorded, that the caller may not know.
 */
export async function resolveTables(
  peers: Pick<Peers, "catalog">,
  call: Call,
  named: readonly NamedTable[],
): Promise<Table[]> {
  const distinct = new Map(named.map(({ table }) => [keyOf(table), table]));
  const found = await lookUp(peers, call, distinct);
  const missing = [...distinct].filter(([key]) => !found.has(key)).slice(0, ASKED_AGAIN);
  for (const [key, why] of await whyMissing(peers, call, missing)) found.set(key, why);
  return allFound(named, found);
}

/** Those that the caller may read, by key. */
async function lookUp(
  { catalog }: Pick<Peers, "catalog">,
  call: Call,
  distinct: ReadonlyMap<string, TableRef>,
): Promise<Map<string, Found>> {
  const keyed = [...distinct];
  const starts = Array.from({ length: Math.ceil(keyed.length / REFS_A_CALL) }, (_, n) => n);
  const pages = await inParallel(starts, CALLS_AT_ONCE, async (start) => {
    const page = keyed.slice(start * REFS_A_CALL, (start + 1) * REFS_A_CALL);
    const tables = page.map(([, table]) => table);
    const answer = await catalog.batchGetTables({ tables }, reading(call));
    return answer.tables.flatMap(({ index, table }) => {
      const key = page[index]?.[0];
      return key === undefined || !table ? [] : ([[key, table]] as const);
    });
  });
  return new Map(pages.flat());
}

/** The batch leaves out in silence what is not there or not to be known; one at a time, the catalog says which. */
const whyMissing = (
  { catalog }: Pick<Peers, "catalog">,
  call: Call,
  missing: [string, TableRef][],
) =>
  inParallel(missing, CALLS_AT_ONCE, async ([key, table]): Promise<[string, Found]> => {
    try {
      return [key, required((await catalog.getTable({ table }, reading(call))).table, "table")];
    } catch (error) {
      const known = error instanceof LapseError && ABOUT_THE_TABLE.has(error.kind);
      if (known) return [key, error];
      throw error;
    }
  });

const ABOUT_THE_TABLE: ReadonlySet<string> = new Set(["not_found", "denied"]);

function allFound(named: readonly NamedTable[], found: ReadonlyMap<string, Found>): Table[] {
  const tables: Table[] = [];
  const violations: FieldViolation[] = [];
  let refused: LapseError | undefined;
  for (const { table, pointer } of named) {
    const result = found.get(keyOf(table)) ?? notFound("TABLE_NOT_FOUND", "there is no such table");
    if (result instanceof LapseError) {
      violations.push({ field: pointer, description: result.message });
      if (result.kind === "denied") refused ??= result;
    } else tables.push(result);
  }
  if (violations.length === 0) return tables;
  if (refused) {
    const { reason, message, details } = refused;
    throw denied(reason, message, { details, violations });
  }
  const [only] = violations;
  const count = `${violations.length} of the tables cannot be found; nothing was done`;
  const message = violations.length === 1 && only ? only.description : count;
  throw notFound("TABLE_NOT_FOUND", message, { violations });
}

const keyOf = ({ ref }: TableRef): string =>
  ref?.case === "name"
    ? JSON.stringify([ref.value.environment, ref.value.namespace, ref.value.name])
    : String(ref?.value);
