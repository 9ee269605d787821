import type { MessageShape } from "@bufbuild/protobuf";
import {
  appendDecision,
  type CallContext,
  databaseClock,
  hasRight,
  type Queryable,
  withTransaction,
} from "@lapse/kit";
import { SetEnvironmentRetentionResponseSchema } from "@lapse/proto/policy";
import { parseEnvironmentDays } from "@lapse/rules";
import type { PolicyDeps } from "../deps.ts";
import type { Environment } from "../domain/table.ts";
import { commit } from "../domain/version.ts";
import {
  type EnvironmentRetentionSet,
  toSetEnvironmentRetentionResponse,
} from "../messages/answers.ts";
import { SERVICE } from "../service-name.ts";
import { type EnvironmentKey, lockEnvironmentRetention } from "../store/environment-retention.ts";
import { answeredBefore, answerOnce } from "./answer-once.ts";
import { changedMeanwhile, onceMoreIfChanged } from "./changed-meanwhile.ts";
import { checkRule } from "./check-rule.ts";
import { denyCall } from "./deny-call.ts";
import { settleEnvironment } from "./settle-environment-retention.ts";
import { stampEnvironment } from "./stamp-environment.ts";

/** What the call is answered with. */
type Answer = MessageShape<typeof SetEnvironmentRetentionResponseSchema>;

/** An environment's retention to be set; null days turn it off. */
export interface SetEnvironmentRetention {
  readonly environmentId: string;
  readonly days: number | null;
}

/**
 * Sets an environment's retention, or turns it off (T7, T10). However many tables it has, one row changes and
 * one event is sent (T8).
 *
 * @throws invalid `RETENTION_INVALID`; not_found `ENVIRONMENT_NOT_FOUND`; denied `RIGHT_MISSING`; conflict
 * `RETENTION_CHANGED_MEANWHILE`, where a second attempt failed likewise; precondition
 * `IDEMPOTENCY_KEY_REUSED`.
 */
export async function setEnvironmentRetention(
  deps: PolicyDeps,
  request: SetEnvironmentRetention,
  call: CallContext,
): Promise<Answer> {
  const before = await answeredBefore(deps.pool, call, SetEnvironmentRetentionResponseSchema);
  if (before !== null) {
    return before;
  }
  const days = checkRule(parseEnvironmentDays(request.days));
  const environment = await deps.catalog.getEnvironment(request.environmentId, call);
  const { rights } = environment;
  if (!hasRight(call.principal, "environment.manage", { rights })) {
    return denyCall(deps, call, denial(environment));
  }
  return onceMoreIfChanged(() => attempt(deps, environment.id, days, call));
}

async function attempt(
  deps: PolicyDeps,
  environmentId: string,
  days: number | null,
  call: CallContext,
): Promise<Answer> {
  const touched = await deps.catalog.touchEnvironment(environmentId, call);
  return withTransaction(deps.pool, (tx) =>
    answerOnce(tx, call, SetEnvironmentRetentionResponseSchema, {
      work: async () => toSetEnvironmentRetentionResponse(await commitFor(tx, touched, days, call)),
      repeated: () => settleEnvironment(tx, keyOf(touched), touched.policyVersion),
    }),
  );
}

async function commitFor(
  tx: Queryable,
  { id: environmentId, tenant, name, policyVersion }: Environment,
  days: number | null,
  { principal, traceparent }: CallContext,
): Promise<EnvironmentRetentionSet> {
  const locked = await lockEnvironmentRetention(tx, { environmentId, tenant });
  const now = await databaseClock(tx).now();
  const next = commit(locked, {
    rule: { days, setBy: principal.subject, setAt: now },
    touch: policyVersion,
    // Nothing hangs on what it was before: the right is the same for every change.
    judgedOn: locked.version,
  });
  if (next === null) {
    throw changedMeanwhile(name);
  }
  const stored = await stampEnvironment(tx, locked, next);
  const previousDays = locked.rule?.days ?? null;
  await appendDecision(
    tx,
    {
      service: SERVICE,
      tenant,
      actor: principal.subject,
      type: "ENVIRONMENT_RETENTION_SET",
      resource: { kind: "environment", id: environmentId, name, environment: "" },
      outcome: "done",
      reason: "request",
      details: { days, previous_days: previousDays },
      traceparent,
    },
    now,
  );
  return { stored, previousDays };
}

function denial({ id, tenant, name }: Environment) {
  return {
    right: "environment.manage",
    tenant,
    resource: { kind: "environment", id, name, environment: "" },
    message: `setting the retention of ${name} takes the right environment.manage, which you lack; ask an admin`,
  };
}

function keyOf({ id: environmentId, tenant }: Environment): EnvironmentKey {
  return { environmentId, tenant };
}
