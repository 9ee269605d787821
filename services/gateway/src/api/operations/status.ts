import { systemStatus } from "../../app/system-status.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderStatus } from "../render/status.ts";
import { SystemStatus } from "../schemas/operations.ts";

/** `/status` */
export function statusRoutes(api: Api, { peers, broker }: ApiDeps): void {
  api.get(
    "/status",
    {
      schema: operation({
        id: "getStatus",
        tag: "Operations",
        summary: "Show how the system does",
        description:
          "A service that is away is reported as such; the answer is there all the same.",
        answer: SystemStatus,
      }),
    },
    async (request, reply) =>
      renderStatus(await systemStatus({ peers, broker }, callOf(request, reply))),
  );
}
