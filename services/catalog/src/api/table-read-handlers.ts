import type { Handlers } from "@lapse/kit";
import type { CatalogService } from "@lapse/proto/catalog";
import { batchGetTables } from "../app/batch-get-tables.ts";
import type { CatalogDeps } from "../app/deps.ts";
import type { TableWithRights } from "../app/effective-rights.ts";
import { filesOfTable } from "../app/read-table-files.ts";
import { getTable, pageOfDroppedTables, pageOfTables } from "../app/read-tables.ts";
import type { DataFile } from "../domain/data-file.ts";
import { droppedCursor, fileCursor, liveCursor, pageOf, parseLimit } from "./page.ts";
import {
  type Faults,
  parsed,
  parseEnvironmentRef,
  parseNamespace,
  parseTableName,
  parseTableRef,
  parseTableRefs,
} from "./parse.ts";
import { renderFile, renderTable } from "./render.ts";

type TableReadHandlers = Pick<
  Handlers<typeof CatalogService>,
  "getTable" | "batchGetTables" | "listTables" | "listTableFiles" | "listDroppedTables"
>;

/** What shows tables and changes nothing. */
export function tableReadHandlers(deps: CatalogDeps): TableReadHandlers {
  const render = (entry: TableWithRights) => renderTable(deps.objectStore, entry);
  return {
    async getTable(request, context) {
      const ref = parsed((faults) => parseTableRef(faults, request.table));
      return { table: render(await getTable(deps, context, ref)) };
    },

    async batchGetTables(request, context) {
      const refs = parsed((faults) => parseTableRefs(faults, request.tables));
      const found = await batchGetTables(deps, context, refs);
      return {
        tables: found.map(({ index, entry }) => ({
          index,
          table: { ...render(entry), columns: [], description: "" },
        })),
      };
    },

    async listTables(request, context) {
      const page = parsed((faults) => ({
        environment: parseEnvironmentRef(faults, request.environment),
        namespace:
          request.namespace === ""
            ? undefined
            : parseNamespace(faults, "/namespace", request.namespace),
        limit: parseLimit(faults, request.limit),
        after: liveCursor.read(faults, request.cursor),
      }));
      const rows = await pageOfTables(deps, context, { ...page, limit: page.limit + 1 });
      const { items, nextCursor } = pageOf(
        rows,
        page.limit,
        ({ table }) => liveCursor.write(table),
        columnBytes,
      );
      return { tables: items.map(render), nextCursor };
    },

    async listDroppedTables(request, context) {
      const page = parsed((faults) => ({
        environment: parseEnvironmentRef(faults, request.environment),
        limit: parseLimit(faults, request.limit),
        after: droppedCursor.read(faults, request.cursor),
        place: parsePlace(faults, request),
      }));
      const rows = await pageOfDroppedTables(deps, context, { ...page, limit: page.limit + 1 });
      const { items, nextCursor } = pageOf(
        rows,
        page.limit,
        ({ table: { tableId, drop } }) =>
          drop ? droppedCursor.write({ tableId, droppedAt: drop.at }) : "",
        columnBytes,
      );
      return { tables: items.map(render), nextCursor };
    },

    async listTableFiles(request, context) {
      const page = parsed((faults) => ({
        table: parseTableRef(faults, request.table),
        limit: parseLimit(faults, request.limit, FILE_LIMITS),
        after: fileCursor.read(faults, request.cursor),
        appliesPolicies: request.appliesPolicies,
      }));
      const { files, policies, ...entry } = await filesOfTable(deps, context, {
        ...page,
        limit: page.limit + 1,
      });
      const { location, contents } = entry.table;
      const snapshotId = contents.snapshotId ?? "";
      const { items, nextCursor } = pageOf(
        files,
        page.limit,
        ({ path }) => fileCursor.write({ snapshotId, path }),
        fileBytes,
      );
      return {
        table: render(entry),
        snapshotId,
        files: location ? items.map((file) => renderFile(deps.objectStore, location, file)) : [],
        nextCursor,
        rowFilters: policies.filters.map((filter) => ({ ...filter, values: [...filter.values] })),
        columnMasks: [...policies.masks],
      };
    },
  };
}

const FILE_LIMITS = { most: 10_000, usual: 1_000 };

/** Path and address of a file, whose other fields are small; every byte of a path may take three in an address. */
const fileBytes = ({ path }: DataFile): number => 4 * Buffer.byteLength(path) + 300;

/** Both parts of a name, or neither. */
function parsePlace(
  faults: Faults,
  { namespace, name }: { readonly namespace: string; readonly name: string },
) {
  if (namespace === "" && name === "") return undefined;
  return {
    namespace: parseNamespace(faults, "/namespace", namespace),
    name: parseTableName(faults, "/name", name),
  };
}

/** What can make a table large. */
const columnBytes = ({ table: { columns, description } }: TableWithRights): number =>
  columns.reduce(
    (sum, { name, type }) => sum + Buffer.byteLength(name + type) + 8,
    Buffer.byteLength(description),
  );
