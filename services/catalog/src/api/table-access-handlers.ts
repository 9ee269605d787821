import type { Handlers } from "@lapse/kit";
import {
  type AccessService,
  GrantTableResponseSchema,
  RemoveColumnMaskResponseSchema,
  RemoveRowFilterResponseSchema,
  RevokeTableResponseSchema,
  SetColumnMaskResponseSchema,
  SetRowFilterResponseSchema,
} from "@lapse/proto/catalog";
import type { TableWithAccess } from "../app/change-table-access.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { getTableAccess } from "../app/get-table-access.ts";
import { grantTable, revokeTable } from "../app/grant-table.ts";
import { removeColumnMask, setColumnMask } from "../app/set-column-mask.ts";
import { removeRowFilter, setRowFilter } from "../app/set-row-filter.ts";
import { filterNameFault } from "../domain/row-filter.ts";
import { appliesToFault } from "../domain/subject.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { note, parsed, parseTableRef } from "./parse.ts";
import { parseFilter, parseGrant, parseMask, parseSubject } from "./parse-access.ts";
import { renderAccess } from "./render-access.ts";

type TableAccessHandlers = Pick<
  Handlers<typeof AccessService>,
  | "getTableAccess"
  | "grantTable"
  | "revokeTable"
  | "setRowFilter"
  | "removeRowFilter"
  | "setColumnMask"
  | "removeColumnMask"
>;

const render = (entry: TableWithAccess) => ({ access: renderAccess(entry) });

/** Grants, row filters and column masks of a table. */
export const tableAccessHandlers = (deps: CatalogDeps): TableAccessHandlers => ({
  async getTableAccess(request, context) {
    const ref = parsed((faults) => parseTableRef(faults, request.table));
    return render(await getTableAccess(deps, context, ref));
  },

  async grantTable(request, context) {
    const input = parsed((faults) => ({
      table: parseTableRef(faults, request.table),
      subject: parseSubject(faults, request.subject),
      right: parseGrant(faults, request.right),
    }));
    return grantTable(deps, idempotentCall(context, GrantTableResponseSchema, render), input);
  },

  async revokeTable(request, context) {
    const input = parsed((faults) => ({
      table: parseTableRef(faults, request.table),
      subject: parseSubject(faults, request.subject),
      right: parseGrant(faults, request.right),
    }));
    return revokeTable(deps, idempotentCall(context, RevokeTableResponseSchema, render), input);
  },

  async setRowFilter(request, context) {
    const input = parsed((faults) => ({
      table: parseTableRef(faults, request.table),
      filter: parseFilter(faults, request.filter),
    }));
    return setRowFilter(deps, idempotentCall(context, SetRowFilterResponseSchema, render), input);
  },

  async removeRowFilter(request, context) {
    const input = parsed((faults) => {
      note(faults, "/name", filterNameFault(request.name));
      return { table: parseTableRef(faults, request.table), name: request.name };
    });
    const call = idempotentCall(context, RemoveRowFilterResponseSchema, render);
    return removeRowFilter(deps, call, input);
  },

  async setColumnMask(request, context) {
    const input = parsed((faults) => ({
      table: parseTableRef(faults, request.table),
      mask: parseMask(faults, request.mask),
    }));
    return setColumnMask(deps, idempotentCall(context, SetColumnMaskResponseSchema, render), input);
  },

  async removeColumnMask(request, context) {
    const input = parsed((faults) => {
      const { column, appliesTo } = request;
      if (column === "") note(faults, "/column", "a column is required");
      note(faults, "/applies_to", appliesToFault(appliesTo));
      return { table: parseTableRef(faults, request.table), column, appliesTo };
    });
    const call = idempotentCall(context, RemoveColumnMaskResponseSchema, render);
    return removeColumnMask(deps, call, input);
  },
});
