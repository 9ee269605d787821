import type { Handlers } from "@lapse/kit";
import {
  type CatalogService,
  CommitTableResponseSchema,
  CreateTableResponseSchema,
  DropTableResponseSchema,
  TouchTableResponseSchema,
  UndropTableResponseSchema,
  UpdateTableResponseSchema,
} from "@lapse/proto/catalog";
import { commitTable } from "../app/commit-table.ts";
import { createTable } from "../app/create-table.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { dropTable } from "../app/drop-table.ts";
import type { TableWithRights } from "../app/effective-rights.ts";
import { touchTable } from "../app/touch-table.ts";
import { undropTable } from "../app/undrop-table.ts";
import { updateTable } from "../app/update-table.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { note, parsed, parseNamespace, parseTableName, parseTableRef } from "./parse.ts";
import { parseCommit, parseDescription, parseNewTable } from "./parse-table.ts";
import { renderTable } from "./render.ts";

type TableHandlers = Pick<
  Handlers<typeof CatalogService>,
  "createTable" | "updateTable" | "commitTable" | "dropTable" | "undropTable" | "touchTable"
>;

/** What changes tables. */
export function tableHandlers(deps: CatalogDeps): TableHandlers {
  const render = (entry: TableWithRights) => ({ table: renderTable(deps.objectStore, entry) });
  return {
    async createTable(request, context) {
      const input = parsed((faults) => parseNewTable(faults, request));
      const call = idempotentCall(context, CreateTableResponseSchema, render);
      return createTable(deps, call, input);
    },

    async updateTable(request, context) {
      const input = parsed((faults) => {
        const { description, name, namespace } = request;
        if ((description ?? name ?? namespace) === undefined) {
          note(faults, "/", "give a description, a name or a namespace to change");
        }
        return {
          table: parseTableRef(faults, request.table),
          ...(description !== undefined && { description: parseDescription(faults, description) }),
          ...(name !== undefined && { name: parseTableName(faults, "/name", name) }),
          ...(namespace !== undefined && {
            namespace: parseNamespace(faults, "/namespace", namespace),
          }),
        };
      });
      const call = idempotentCall(context, UpdateTableResponseSchema, render);
      return updateTable(deps, call, input);
    },

    async commitTable(request, context) {
      const input = parsed((faults) => parseCommit(faults, request));
      const call = idempotentCall(context, CommitTableResponseSchema, (entry: TableWithRights) => ({
        ...render(entry),
        snapshotId: entry.table.contents.snapshotId ?? "",
      }));
      return commitTable(deps, call, input);
    },

    async dropTable(request, context) {
      const ref = parsed((faults) => parseTableRef(faults, request.table));
      return dropTable(deps, idempotentCall(context, DropTableResponseSchema, render), ref);
    },

    async undropTable(request, context) {
      const input = parsed((faults) => ({
        table: parseTableRef(faults, request.table),
        asName:
          request.asName === "" ? undefined : parseTableName(faults, "/as_name", request.asName),
      }));
      const call = idempotentCall(context, UndropTableResponseSchema, render);
      return undropTable(deps, call, input);
    },

    async touchTable(request, context) {
      const ref = parsed((faults) => parseTableRef(faults, request.table));
      return touchTable(deps, idempotentCall(context, TouchTableResponseSchema, render), ref);
    },
  };
}
