import { type CallOptions, hasRight, LapseError, type Right, toLapseError } from "@lapse/kit";
import type { GetPurgeStatusResponse } from "@lapse/proto/catalog";
import type { GetOutboxHeadResponse } from "@lapse/proto/common";
import type { GetEvaluatorStatusResponse, SweepHold } from "@lapse/proto/evaluator";
import type { Broker } from "../broker.ts";
import type { Peers } from "../peers.ts";
import type { Call } from "./call.ts";

interface ServiceStatus {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface SystemView {
  readonly services: readonly ServiceStatus[];
  /** Undefined while it does not answer, or not to this caller. */
  readonly evaluator: GetEvaluatorStatusResponse | undefined;
  /** The first of what the caller's tenant has to confirm; undefined likewise. */
  readonly holds: readonly SweepHold[] | undefined;
  readonly purges: GetPurgeStatusResponse | undefined;
  /** Of the services that answered. */
  readonly outboxes: readonly { readonly service: string; readonly head: GetOutboxHeadResponse }[];
}

const WAIT_MS = 2_000;
const MOST_HOLDS = 100;

/**
 * How each service does. All are asked at once; one that does not answer is reported as such and never fails
 * the whole. The outboxes are asked by the gateway for itself; sweeps, pauses and holds are the tenant's, so they
 * are asked for the caller, and not at all where the caller's roles do not show them.
 */
export async function systemStatus(
  { peers, broker }: { readonly peers: Peers; readonly broker: Pick<Broker, "connected"> },
  { principal, signal, traceparent }: Call,
): Promise<SystemView> {
  const { catalog, evaluator, outboxes } = peers;
  const options: CallOptions = { signal, traceparent, deadlineMs: WAIT_MS };
  const forCaller: CallOptions = { ...options, principal };
  const may = (right: Right) => hasRight(principal, right);
  const heads = Object.entries(outboxes).map(async ([service, outbox]) => {
    const head = await ask(outbox.getOutboxHead({}, options));
    return { service, head };
  });
  const [evaluatorStatus, holds, purges, outboxHeads] = await Promise.all([
    may("table.read") ? ask(evaluator.getEvaluatorStatus({}, forCaller)) : undefined,
    may("table.read") ? ask(evaluator.listSweepHolds({ limit: MOST_HOLDS }, forCaller)) : undefined,
    may("environment.manage") ? ask(catalog.getPurgeStatus({}, forCaller)) : undefined,
    Promise.all(heads),
  ]);
  return {
    services: [
      ...outboxHeads.map(({ service, head }) =>
        statusOf(service, service === EVALUATOR ? worse(head, evaluatorStatus ?? head) : head),
      ),
      broker.connected
        ? { name: "nats", ok: true, detail: "connected" }
        : { name: "nats", ok: false, detail: "the gateway is not connected to it" },
    ],
    evaluator: answerOf(evaluatorStatus),
    holds: answerOf(holds)?.holds,
    purges: answerOf(purges),
    outboxes: outboxHeads.flatMap(({ service, head }) => {
      const found = answerOf(head);
      return found ? [{ service, head: found }] : [];
    }),
  };
}

const EVALUATOR = "lifecycle-evaluator";

type Asked<T> = { readonly answer: T; readonly ms: number } | LapseError;

async function ask<T>(answer: Promise<T>): Promise<Asked<T>> {
  const startedAt = performance.now();
  try {
    return { answer: await answer, ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    return toLapseError(error);
  }
}

const worse = (a: Asked<unknown>, b: Asked<unknown>): Asked<unknown> =>
  a instanceof LapseError ? a : b;

const answerOf = <T>(asked: Asked<T> | undefined): T | undefined =>
  asked instanceof LapseError ? undefined : asked?.answer;

const statusOf = (name: string, asked: Asked<unknown>): ServiceStatus =>
  asked instanceof LapseError
    ? { name, ok: false, detail: asked.message }
    : { name, ok: true, detail: `answered in ${asked.ms} ms` };
