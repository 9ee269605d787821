import type { Table as TableMessage } from "@lapse/proto/catalog";
import { type Call, reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import { oneWithExpiry } from "../../app/table-expiry.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderTable } from "../render/table.ts";
import { Table, TableChange } from "../schemas/table.ts";
import { ADDRESSES, tableRef } from "./address.ts";

/** One table, by name and by id. */
export function tableRoutes(api: Api, { peers }: ApiDeps): void {
  const { catalog } = peers;
  const render = async (call: Call, table: TableMessage) =>
    renderTable(await oneWithExpiry(peers, call, table));

  for (const { path, params, suffix, by } of ADDRESSES) {
    api.get(
      path,
      {
        schema: operation({
          id: `getTable${suffix}`,
          tag: "Tables",
          summary: `Show a table, ${by}`,
          params,
          answer: Table,
          problems: [404],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const table = tableRef(request.params);
        const answer = await catalog.getTable({ table }, reading(call));
        return render(call, required(answer.table, "table"));
      },
    );

    api.patch(
      path,
      {
        schema: operation({
          id: `updateTable${suffix}`,
          tag: "Tables",
          summary: `Describe, rename or move a table, ${by}`,
          description:
            "Each change is activity. A rename keeps the id, and with it files, retention and access.",
          params,
          body: TableChange,
          answer: Table,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const table = tableRef(request.params);
        const answer = await catalog.updateTable({ table, ...request.body }, writing(call));
        return render(call, required(answer.table, "table"));
      },
    );

    api.delete(
      path,
      {
        schema: operation({
          id: `dropTable${suffix}`,
          tag: "Tables",
          summary: `Drop a table, ${by}`,
          description: "It can be brought back until `undo_until`; then its files are deleted.",
          params,
          body: NoBody,
          answer: Table,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const answer = await catalog.dropTable({ table: tableRef(request.params) }, writing(call));
        return render(call, required(answer.table, "table"));
      },
    );
  }
}
