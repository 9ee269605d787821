import * as z from "zod";
import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, Nothing, operation, optionalBody } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderSweep, renderSweepRun, renderSweepWithOutcomes } from "../render/sweep.ts";
import { pageOf } from "../render/values.ts";
import { PageQuery } from "../schemas/pages.ts";
import {
  PauseRequest,
  SweepPage,
  SweepRequest,
  SweepRun,
  SweepWithOutcomes,
} from "../schemas/sweep.ts";
import { Id } from "../schemas/values.ts";

/** What a sweep may take beyond the time that its caller waits for its end. */
const ANSWER_MARGIN_MS = 10_000;

/** `/sweeps` (T25) */
export function sweepRoutes(api: Api, { peers: { evaluator } }: ApiDeps): void {
  api.post(
    "/sweeps",
    {
      schema: operation({
        id: "runSweep",
        tag: "Sweeps",
        summary: "Run a sweep now, or see what it would drop",
        body: optionalBody(SweepRequest),
        answer: SweepRun,
        problems: [409],
      }),
    },
    async (request, reply) => {
      const { dry_run: dryRun = false, wait_seconds: waitSeconds = 0 } = request.body;
      const deadlineMs = waitSeconds * 1_000 + ANSWER_MARGIN_MS;
      const options = { ...writing(callOf(request, reply)), deadlineMs };
      return renderSweepRun(await evaluator.runSweep({ dryRun, waitSeconds }, options), dryRun);
    },
  );

  api.get(
    "/sweeps",
    {
      schema: operation({
        id: "listSweeps",
        tag: "Sweeps",
        summary: "List sweeps, the latest first",
        query: PageQuery,
        answer: SweepPage,
      }),
    },
    async (request, reply) => {
      const { limit, cursor = "" } = request.query;
      const answer = await evaluator.listSweeps({ limit, cursor }, reading(callOf(request, reply)));
      return pageOf(answer.sweeps.map(renderSweep), answer.nextCursor);
    },
  );

  api.get(
    "/sweeps/:id",
    {
      schema: operation({
        id: "getSweep",
        tag: "Sweeps",
        summary: "Show a sweep and what became of each table",
        params: z.strictObject({ id: Id }),
        answer: SweepWithOutcomes,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const sweepId = request.params.id;
      const answer = await evaluator.getSweep({ sweepId }, reading(callOf(request, reply)));
      return renderSweepWithOutcomes(required(answer.sweep, "sweep"), answer.outcomes);
    },
  );

  api.post(
    "/sweeps/pause",
    {
      schema: operation({
        id: "pauseSweeps",
        tag: "Sweeps",
        summary: "Pause sweeps: nothing expires until they are resumed",
        body: optionalBody(PauseRequest),
        answer: Nothing,
        status: 204,
      }),
    },
    async (request, reply) => {
      const { reason = "" } = request.body;
      await evaluator.pauseSweeps({ reason }, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );

  api.post(
    "/sweeps/resume",
    {
      schema: operation({
        id: "resumeSweeps",
        tag: "Sweeps",
        summary: "Resume sweeps",
        body: NoBody,
        answer: Nothing,
        status: 204,
      }),
    },
    async (request, reply) => {
      await evaluator.resumeSweeps({}, writing(callOf(request, reply)));
      return reply.code(204).send();
    },
  );
}
