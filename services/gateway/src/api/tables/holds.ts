import * as z from "zod";
import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation, optionalBody } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderHold } from "../render/table-data.ts";
import { pageOfAll } from "../render/values.ts";
import { PageQuery } from "../schemas/pages.ts";
import { Hold, HoldPage, NewHold } from "../schemas/table-data.ts";
import { Id } from "../schemas/values.ts";
import { ADDRESSES, tableRef } from "./address.ts";

const HoldPath = z.strictObject({ id: Id });

/** `…/holds` of a table, and `/holds/{id}` (T21). */
export function holdRoutes(api: Api, { peers: { catalog } }: ApiDeps): void {
  for (const { path, params, suffix, by } of ADDRESSES) {
    api.get(
      `${path}/holds`,
      {
        schema: operation({
          id: `listHolds${suffix}`,
          tag: "Tables",
          summary: `List what keeps a table from being dropped at the moment, ${by}`,
          params,
          query: PageQuery,
          answer: HoldPage,
          problems: [404],
        }),
      },
      async (request, reply) => {
        const table = tableRef(request.params);
        const { holds } = await catalog.listHolds({ table }, reading(callOf(request, reply)));
        return pageOfAll(holds.map(renderHold), ({ id }) => id, request.query);
      },
    );

    api.post(
      `${path}/holds`,
      {
        schema: operation({
          id: `createHold${suffix}`,
          tag: "Tables",
          summary: `Keep a table from being dropped while a write runs, ${by}`,
          params,
          body: optionalBody(NewHold),
          answer: Hold,
          status: 201,
          problems: [404, 409, 429],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const asked = { table: tableRef(request.params), kind: request.body.kind ?? "write" };
        const { hold } = await catalog.createHold(asked, writing(call));
        return reply.code(201).send(renderHold(required(hold, "hold")));
      },
    );
  }

  api.put(
    "/holds/:id",
    {
      schema: operation({
        id: "renewHold",
        tag: "Tables",
        summary: "Renew a hold",
        description: "The holder's heartbeat: a hold that is not renewed ends at `expires_at`.",
        params: HoldPath,
        body: NoBody,
        answer: Hold,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const holdId = request.params.id;
      const { hold } = await catalog.renewHold({ holdId }, writing(callOf(request, reply)));
      return renderHold(required(hold, "hold"));
    },
  );

  api.delete(
    "/holds/:id",
    {
      schema: operation({
        id: "releaseHold",
        tag: "Tables",
        summary: "Release a hold",
        params: HoldPath,
        body: NoBody,
        answer: Nothing,
        status: 204,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const holdId = request.params.id;
      await catalog.releaseHold({ holdId }, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );
}
