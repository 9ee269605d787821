import * as z from "zod";
import { reading } from "../../app/call.ts";
import { createTable } from "../../app/create-table.ts";
import { oneWithExpiry, withExpiry } from "../../app/table-expiry.ts";
import { EnvironmentPath, environmentRef } from "../environments/environments.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderTable, TABLE_KIND } from "../render/table.ts";
import { pageOf } from "../render/values.ts";
import { PageQuery } from "../schemas/pages.ts";
import { NewTable, Table, TablePage } from "../schemas/table.ts";
import { EnvironmentName, Namespace } from "../schemas/values.ts";
import { givenColumns } from "./given-columns.ts";

const NamespacePath = z.strictObject({ env: EnvironmentName, namespace: Namespace });

const LISTS = [
  {
    path: "/environments/:env/tables",
    params: EnvironmentPath,
    id: "listTables",
    in: "environment",
  },
  {
    path: "/environments/:env/namespaces/:namespace/tables",
    params: NamespacePath,
    id: "listTablesOfNamespace",
    in: "namespace",
  },
] as const;

/** `/environments/{env}/tables`, `/environments/{env}/namespaces/{namespace}/tables` */
export function collectionRoutes(api: Api, { peers }: ApiDeps): void {
  for (const list of LISTS) {
    api.get(
      list.path,
      {
        schema: operation({
          id: list.id,
          tag: "Tables",
          summary: `List the tables of a${list.in === "environment" ? "n" : ""} ${list.in}`,
          description:
            "With the expiry of each, as far as it is known in time: `expiry_unknown` marks the others.",
          params: list.params as typeof EnvironmentPath | typeof NamespacePath,
          query: PageQuery,
          answer: TablePage,
          problems: [404],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const { params, query } = request;
        const asked = {
          environment: environmentRef(params.env),
          namespace: "namespace" in params ? params.namespace : "",
          limit: query.limit,
          cursor: query.cursor ?? "",
        };
        const { tables, nextCursor } = await peers.catalog.listTables(asked, reading(call));
        const views = await withExpiry(peers, call, tables);
        return pageOf(views.map(renderTable), nextCursor);
      },
    );
  }

  api.post(
    "/environments/:env/namespaces/:namespace/tables",
    {
      schema: operation({
        id: "createTable",
        tag: "Tables",
        summary: "Create a table",
        description: "With `expire_after_days` it is never there without its retention.",
        params: NamespacePath,
        body: NewTable,
        answer: Table,
        status: 201,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { env: environment, namespace } = request.params;
      const {
        name,
        kind = "managed",
        columns = [],
        description = "",
        staged = false,
      } = request.body;
      const table = await createTable(peers, call, {
        name: { environment, namespace, name },
        kind: TABLE_KIND[kind],
        columns: givenColumns(columns),
        description,
        staged,
        expireAfterDays: request.body.expire_after_days,
      });
      return reply.code(201).send(renderTable(await oneWithExpiry(peers, call, table)));
    },
  );
}
