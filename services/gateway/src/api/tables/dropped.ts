import * as z from "zod";
import { reading } from "../../app/call.ts";
import { oneWithExpiry, withExpiry } from "../../app/table-expiry.ts";
import { undropTable } from "../../app/undrop-table.ts";
import { EnvironmentPath, environmentRef } from "../environments/environments.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation, optionalBody } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderTable } from "../render/table.ts";
import { pageOf } from "../render/values.ts";
import { pageQuery } from "../schemas/pages.ts";
import { Table, TablePage, UndropById, UndropByName } from "../schemas/table.ts";
import {
  EnvironmentName,
  FullName,
  Id,
  Namespace,
  splitFullName,
  TableName,
} from "../schemas/values.ts";
import { idRef, nameRef } from "./address.ts";

const NamePath = z.strictObject({ env: EnvironmentName, namespace: Namespace, name: TableName });
const DroppedQuery = z.strictObject({
  name: FullName.optional().meta({ description: "Only what was dropped under this name." }),
  ...pageQuery,
});
const DroppedPath = z.strictObject({ env: EnvironmentName, id: Id });

/** Dropped tables, and how they come back (T28, T29). */
export function droppedTableRoutes(api: Api, { peers }: ApiDeps): void {
  api.get(
    "/environments/:env/dropped-tables",
    {
      schema: operation({
        id: "listDroppedTables",
        tag: "Tables",
        summary: "List dropped tables, the latest first",
        description:
          "Those that the caller may bring back. With `name`, every table dropped under it: tell them apart by id and `dropped_at`.",
        params: EnvironmentPath,
        query: DroppedQuery,
        answer: TablePage,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { limit, cursor = "", name } = request.query;
      const which = name === undefined ? {} : splitFullName(name);
      const asked = { environment: environmentRef(request.params.env), limit, cursor, ...which };
      const { tables, nextCursor } = await peers.catalog.listDroppedTables(asked, reading(call));
      return pageOf((await withExpiry(peers, call, tables)).map(renderTable), nextCursor);
    },
  );

  api.post(
    "/environments/:env/namespaces/:namespace/tables/:name/undrop",
    {
      schema: operation({
        id: "undropTable",
        tag: "Tables",
        summary: "Bring back a dropped table, by name",
        description: "The one dropped last under this name, unless `id` says which.",
        params: NamePath,
        body: optionalBody(UndropByName),
        answer: Table,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { env, namespace, name } = request.params;
      const { id, as = "" } = request.body;
      const expected = { environment: env, namespace, name };
      const table =
        id === undefined
          ? await undropTable(peers, call, { ref: nameRef(env, namespace, name), as })
          : await undropTable(peers, call, { ref: idRef(id), as, expected });
      return renderTable(await oneWithExpiry(peers, call, table));
    },
  );

  api.post(
    "/environments/:env/dropped-tables/:id/undrop",
    {
      schema: operation({
        id: "undropTableById",
        tag: "Tables",
        summary: "Bring back a dropped table, by id",
        params: DroppedPath,
        body: optionalBody(UndropById),
        answer: Table,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { env: environment, id } = request.params;
      const { as = "" } = request.body;
      const asked = { ref: idRef(id), as, expected: { environment } };
      const table = await undropTable(peers, call, asked);
      return renderTable(await oneWithExpiry(peers, call, table));
    },
  );
}
