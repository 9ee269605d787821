import { reading, writing } from "../../app/call.ts";
import { findEnvironment } from "../../app/find-environment.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderEnvironmentRetention } from "../render/environment.ts";
import { EnvironmentRetention } from "../schemas/environment.ts";
import { EnvironmentDays } from "../schemas/retention.ts";
import { EnvironmentPath } from "./environments.ts";

/** `/environments/{env}/retention` (T7) */
export function environmentRetentionRoutes(api: Api, { peers }: ApiDeps): void {
  api.get(
    "/environments/:env/retention",
    {
      schema: operation({
        id: "getEnvironmentRetention",
        tag: "Retention",
        summary: "Show an environment's retention",
        params: EnvironmentPath,
        answer: EnvironmentRetention,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { environmentId } = await findEnvironment(peers, call, request.params.env);
      const answer = await peers.policy.getEnvironmentRetention({ environmentId }, reading(call));
      return renderEnvironmentRetention(answer.retention);
    },
  );

  api.put(
    "/environments/:env/retention",
    {
      schema: operation({
        id: "setEnvironmentRetention",
        tag: "Retention",
        summary: "Set or turn off an environment's retention",
        description:
          "It applies to every managed table there without a rule of its own; each gets the full period from now on.",
        params: EnvironmentPath,
        body: EnvironmentDays,
        answer: EnvironmentRetention,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const call = callOf(request, reply);
      const { environmentId } = await findEnvironment(peers, call, request.params.env);
      const { days } = request.body;
      const answer = await peers.policy.setEnvironmentRetention(
        { environmentId, ...(days !== null && { days }) },
        writing(call),
      );
      return {
        ...renderEnvironmentRetention(answer.retention),
        previous_days: answer.previousDays ?? null,
      };
    },
  );
}
