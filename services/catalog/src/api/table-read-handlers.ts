import type { Handlers } from "@lapse/kit";
import type { CatalogService } from "@lapse/proto/catalog";
import type { CatalogDeps } from "../app/deps.ts";
import { filesOfTable, getTable, pageOfDroppedTables, pageOfTables } from "../app/read-tables.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { droppedCursor, liveCursor, pageOf, parseLimit } from "./page.ts";
import { parsed, parseEnvironmentRef, parseNamespace, parseTableRef } from "./parse.ts";
import { renderFile, renderTable } from "./render.ts";

type TableReadHandlers = Pick<
  Handlers<typeof CatalogService>,
  "getTable" | "listTables" | "listTableFiles" | "listDroppedTables"
>;

/** What shows tables and changes nothing. */
export function tableReadHandlers(deps: CatalogDeps): TableReadHandlers {
  const render = (entry: TableInEnvironment) => renderTable(deps.objectStore, entry);
  return {
    async getTable(request, context) {
      const ref = parsed((faults) => parseTableRef(faults, request.table));
      return { table: render(await getTable(deps, context, ref)) };
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
      const ref = parsed((faults) => parseTableRef(faults, request.table));
      const { files, ...entry } = await filesOfTable(deps, context, ref);
      const { location, contents } = entry.table;
      return {
        table: render(entry),
        snapshotId: contents.snapshotId ?? "",
        files: location ? files.map((file) => renderFile(deps.objectStore, location, file)) : [],
      };
    },
  };
}

/** What can make a table large. */
const columnBytes = ({ table: { columns, description } }: TableInEnvironment): number =>
  columns.reduce(
    (sum, { name, type }) => sum + Buffer.byteLength(name + type) + 8,
    Buffer.byteLength(description),
  );
