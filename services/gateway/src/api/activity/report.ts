import { type ReportedUse, reportActivity } from "../../app/report-activity.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { Accepted, type ActivityEventJson, ActivityReport } from "../schemas/activity.ts";
import { splitFullName } from "../schemas/values.ts";
import { idRef, nameRef } from "../tables/address.ts";

/** Ten thousand events. */
const MAX_BODY = 8 * 1024 * 1024;

/** `/activity` (T14) */
export function activityRoutes(api: Api, { peers, broker, now }: ApiDeps): void {
  api.post(
    "/activity",
    {
      bodyLimit: MAX_BODY,
      schema: operation({
        id: "reportActivity",
        tag: "Activity",
        summary: "Report reads and changes of tables",
        description:
          "All events are accepted or none, unless the answer is 503: then report all of them again, with the same `Idempotency-Key`.",
        body: ActivityReport,
        answer: Accepted,
        status: 202,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { body } = request;
      const uses =
        "events" in body
          ? body.events.map((event, index) => reportedUse(event, `/events/${index}`))
          : [reportedUse(body, "")];
      await reportActivity({ ...peers, broker, now }, call, uses);
      return reply.code(202).send({ accepted: uses.length });
    },
  );
}

function reportedUse(event: ActivityEventJson, at: string): ReportedUse {
  const { kind, table_id: id, environment = "", table = "", occurred_at: time, source } = event;
  const occurredAt = time === undefined ? undefined : new Date(time);
  if (id !== undefined)
    return { kind, occurredAt, source, table: idRef(id), pointer: `${at}/table_id` };
  const { namespace, name } = splitFullName(table);
  const ref = nameRef(environment, namespace, name);
  return { kind, occurredAt, source, table: ref, pointer: `${at}/table` };
}
