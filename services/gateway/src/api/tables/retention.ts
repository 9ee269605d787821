import type * as z from "zod";
import { setTableRetention, tableRetention } from "../../app/table-retention.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderRetention, renderRetentionSet } from "../render/retention.ts";
import { Retention, RetentionRule, RetentionSet } from "../schemas/retention.ts";
import { ADDRESSES, tableRef } from "./address.ts";

/** `…/retention` of a table, by name and by id (T2, T3). */
export function tableRetentionRoutes(api: Api, { peers, warningWindowMs }: ApiDeps): void {
  for (const { path, params, suffix, by } of ADDRESSES) {
    api.get(
      `${path}/retention`,
      {
        schema: operation({
          id: `getTableRetention${suffix}`,
          tag: "Retention",
          summary: `Show when a table expires, ${by}`,
          description:
            "503 while that cannot be said for sure: the evaluator is away, or has not read the table's latest changes.",
          params,
          answer: Retention,
          problems: [404],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        return renderRetention(await tableRetention(peers, call, tableRef(request.params)));
      },
    );

    api.put(
      `${path}/retention`,
      {
        schema: operation({
          id: `setTableRetention${suffix}`,
          tag: "Retention",
          summary: `Set a table's retention, ${by}`,
          description:
            "A change of retention is activity: the table gets its full period from now on.",
          params,
          body: RetentionRule,
          answer: RetentionSet,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const ref = tableRef(request.params);
        const set = await setTableRetention(peers, call, ref, { rule: ruleOf(request.body) });
        return renderRetentionSet(set, warningWindowMs);
      },
    );
  }
}

/** The one rule that the body holds. */
function ruleOf({ days, on }: z.output<typeof RetentionRule>) {
  if (days !== undefined) return { case: "days", value: days } as const;
  if (on !== undefined) return { case: "on", value: on } as const;
  return { case: "never", value: true } as const;
}
