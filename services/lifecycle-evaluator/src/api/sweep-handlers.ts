import { type CallContext, type Handlers, idempotentCallOf, once } from "@lapse/kit";
import { type LifecycleEvaluatorService, RunSweepResponseSchema } from "@lapse/proto/evaluator";
import { confirmSweepHold } from "../app/confirm-sweep-hold.ts";
import type { EvaluatorDeps } from "../app/deps.ts";
import { dryRunSweep } from "../app/dry-run-sweep.ts";
import { getStatus } from "../app/get-status.ts";
import { listSweepHolds } from "../app/list-sweep-holds.ts";
import { pauseSweeps, resumeSweeps } from "../app/pause-sweeps.ts";
import { getSweep, listSweeps } from "../app/read-sweeps.ts";
import { type RequestOnce, requestSweep } from "../app/request-sweep.ts";
import { parsed, parseId, parseLimit, parseText, parseWhole } from "./parse.ts";
import { renderExpiry, renderHold, renderOutcome, renderStatus, renderSweep } from "./render.ts";

const LONGEST_WAIT_SECONDS = 120;

type SweepHandlers = Pick<
  Handlers<typeof LifecycleEvaluatorService>,
  | "runSweep"
  | "getSweep"
  | "listSweeps"
  | "pauseSweeps"
  | "resumeSweeps"
  | "listSweepHolds"
  | "confirmSweepHold"
  | "getEvaluatorStatus"
>;

/** Sweeps, and how the evaluator is. */
export const sweepHandlers = (deps: EvaluatorDeps): SweepHandlers => ({
  async runSweep(request, call) {
    const waitSeconds = parsed((faults) =>
      parseWhole(faults, "/wait_seconds", request.waitSeconds, {
        least: 0,
        most: LONGEST_WAIT_SECONDS,
      }),
    );
    if (request.dryRun) {
      const { wouldDrop, held } = await dryRunSweep(deps, call);
      return {
        wouldDrop: wouldDrop.map((table) => ({
          expiry: renderExpiry(table),
          environment: table.facts.environment,
          tenant: table.facts.tenant,
        })),
        held: held.map(renderHold),
      };
    }
    const sweep = await requestSweep(deps, { waitSeconds, once: onceByKey(call) }, call);
    return { sweep: renderSweep(sweep) };
  },

  async getSweep(request, call) {
    const sweepId = parsed((faults) => parseId(faults, "/sweep_id", request.sweepId));
    const { sweep, outcomes } = await getSweep(deps, sweepId, call);
    return { sweep: renderSweep(sweep), outcomes: outcomes.map(renderOutcome) };
  },

  async listSweeps(request, call) {
    const wanted = parsed((faults) => ({
      limit: parseLimit(faults, request.limit),
      before: request.cursor === "" ? null : parseId(faults, "/cursor", request.cursor),
    }));
    const { sweeps, next } = await listSweeps(deps, wanted, call);
    return { sweeps: sweeps.map(renderSweep), nextCursor: next ?? "" };
  },

  async pauseSweeps(request, call) {
    const reason = parsed((faults) => parseText(faults, "/reason", request.reason));
    await pauseSweeps(deps, reason, call);
    return {};
  },

  async resumeSweeps(_request, call) {
    await resumeSweeps(deps, call);
    return {};
  },

  async listSweepHolds(request, call) {
    const wanted = parsed((faults) => ({
      all: request.all,
      limit: parseLimit(faults, request.limit),
      before: request.cursor === "" ? null : parseId(faults, "/cursor", request.cursor),
    }));
    const { holds, next } = await listSweepHolds(deps, wanted, call);
    return { holds: holds.map(renderHold), nextCursor: next ?? "" };
  },

  async confirmSweepHold(request, call) {
    const holdId = parsed((faults) => parseId(faults, "/hold_id", request.holdId));
    return { hold: renderHold(await confirmSweepHold(deps, holdId, call)) };
  },

  async getEvaluatorStatus(_request, call) {
    return renderStatus(await getStatus(deps, call));
  },
});

/** A repeat with the same idempotency key asks for no second sweep. */
const onceByKey =
  (call: CallContext): RequestOnce =>
  async (tx, work) => {
    const answer = await once(tx, idempotentCallOf(call), RunSweepResponseSchema, async () => ({
      sweep: await work(),
    }));
    return { sweepId: answer.sweep?.sweepId ?? "" };
  };
