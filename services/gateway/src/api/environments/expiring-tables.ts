import * as z from "zod";
import { reading } from "../../app/call.ts";
import { findEnvironment } from "../../app/find-environment.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderExpiringTable } from "../render/retention.ts";
import { pageOf } from "../render/values.ts";
import { page, pageQuery } from "../schemas/pages.ts";
import { ExpiringTable } from "../schemas/retention.ts";
import { EnvironmentPath } from "./environments.ts";

const ExpiringQuery = z.strictObject({
  within_days: z.coerce
    .number({ error: "give a number of days, such as 7" })
    .positive()
    .max(36_500)
    .optional()
    .meta({ description: "How far ahead, in retention days; absent: the warning window." }),
  ...pageQuery,
});

/** `/environments/{env}/expiring-tables` (T11) */
export function expiringTableRoutes(api: Api, { peers }: ApiDeps): void {
  api.get(
    "/environments/:env/expiring-tables",
    {
      schema: operation({
        id: "listExpiringTables",
        tag: "Retention",
        summary: "List what expires soon, soonest first",
        params: EnvironmentPath,
        query: ExpiringQuery,
        answer: page(ExpiringTable),
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { within_days: withinDays = 0, limit, cursor = "" } = request.query;
      const { environmentId } = await findEnvironment(peers, call, request.params.env);
      const answer = await peers.evaluator.listExpiringTables(
        { environmentId, withinDays, limit, cursor },
        reading(call),
      );
      return pageOf(answer.tables.map(renderExpiringTable), answer.nextCursor);
    },
  );
}
