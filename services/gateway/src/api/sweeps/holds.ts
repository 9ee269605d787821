import { reading } from "../../app/call.ts";
import { type Confirmation, confirmSweeps } from "../../app/confirm-sweeps.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderSweepHold } from "../render/sweep.ts";
import { pageOf } from "../render/values.ts";
import {
  SweepConfirmation,
  type SweepConfirmationJson,
  SweepConfirmed,
  SweepHoldPage,
  SweepHoldQuery,
} from "../schemas/sweep.ts";

/** `/sweeps/holds`, `/sweeps/confirm` (T26) */
export function sweepHoldRoutes(api: Api, { peers }: ApiDeps): void {
  api.get(
    "/sweeps/holds",
    {
      schema: operation({
        id: "listSweepHolds",
        tag: "Sweeps",
        summary: "List what waits for somebody to say that it is meant",
        query: SweepHoldQuery,
        answer: SweepHoldPage,
      }),
    },
    async (request, reply) => {
      const { all = false, limit, cursor = "" } = request.query;
      const asked = { all, limit, cursor };
      const answer = await peers.evaluator.listSweepHolds(asked, reading(callOf(request, reply)));
      return pageOf(answer.holds.map(renderSweepHold), answer.nextCursor);
    },
  );

  api.post(
    "/sweeps/confirm",
    {
      schema: operation({
        id: "confirmSweeps",
        tag: "Sweeps",
        summary: "Say that what a guard holds back is meant",
        description:
          "The next sweep goes on with it. Where nothing is held, nothing changes and the answer is empty.",
        body: SweepConfirmation,
        answer: SweepConfirmed,
        problems: [404, 409],
      }),
    },
    async (request, reply) => {
      const meant = confirmationOf(request.body);
      const { holds, purges } = await confirmSweeps(peers, callOf(request, reply), meant);
      return { holds: holds.map(renderSweepHold), purges };
    },
  );
}

/** The one that the body names. */
function confirmationOf({ hold_id: id, environment }: SweepConfirmationJson): Confirmation {
  if (id !== undefined) return { kind: "hold", id };
  if (environment !== undefined) return { kind: "environment", name: environment };
  return { kind: "clock" };
}
