import { reading } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import { oneWithExpiry } from "../../app/table-expiry.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderFiles, renderReads } from "../render/table-data.ts";
import { FilesQuery, TableFiles, TableReads } from "../schemas/table-data.ts";
import { ADDRESSES, tableRef } from "./address.ts";

/** `…/files` and `…/reads` of a table, by name and by id. */
export function tableReadingRoutes(api: Api, { peers }: ApiDeps): void {
  const { catalog, evaluator } = peers;
  for (const { path, params, suffix, by } of ADDRESSES) {
    api.get(
      `${path}/files`,
      {
        schema: operation({
          id: `listTableFiles${suffix}`,
          tag: "Tables",
          summary: `List the files of a table's current snapshot, ${by}`,
          description: "All pages are of one snapshot.",
          params,
          query: FilesQuery,
          answer: TableFiles,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const ref = tableRef(request.params);
        const { limit, cursor = "", applies_policies: appliesPolicies = false } = request.query;
        const asked = { table: ref, limit, cursor, appliesPolicies };
        const answer = await catalog.listTableFiles(asked, reading(call));
        const table = required(answer.table, "table");
        return renderFiles(answer, await oneWithExpiry(peers, call, table));
      },
    );

    api.get(
      `${path}/reads`,
      {
        schema: operation({
          id: `getTableReads${suffix}`,
          tag: "Activity",
          summary: `Show a table's reads per day, and who has reported any, ${by}`,
          params,
          answer: TableReads,
          problems: [404],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const answer = await catalog.getTable({ table: tableRef(request.params) }, reading(call));
        const { tableId } = required(answer.table, "table");
        return renderReads(await evaluator.getTableReads({ tableId }, reading(call)));
      },
    );
  }
}
