import { type CallOptions, hasRight, requireRight } from "@lapse/kit";
import type { SweepHold } from "@lapse/proto/evaluator";
import type { Peers } from "../peers.ts";
import { type Call, reading, writing } from "./call.ts";
import { findEnvironment } from "./find-environment.ts";
import { recordRefusal } from "./record-refusal.ts";
import { required } from "./required.ts";

/** What somebody says is meant. */
export type Confirmation =
  | { readonly kind: "hold"; readonly id: string }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "clock" };

/** What went from held to confirmed. */
export interface Confirmed {
  readonly holds: readonly SweepHold[];
  /** Whether purges waited too. */
  readonly purges: boolean;
}

type HoldPeers = Pick<Peers, "access" | "catalog" | "evaluator">;

const RIGHT = "sweep.manage";
const PAGE = 1_000;

/**
 * Says that what a guard holds back is meant (T26). What is not held is no error, so a repeat of the call, or
 * of a part that failed, finishes the rest. The clock is watched in two places: the evaluator's for sweeps, the
 * catalog's for purges.
 *
 * @throws notFound for a hold or an environment that is not there; denied as the services say; unavailable where one
 *   of them cannot be asked
 */
export async function confirmSweeps(
  peers: HoldPeers,
  call: Call,
  confirmation: Confirmation,
): Promise<Confirmed> {
  if (confirmation.kind === "hold") {
    return { holds: [await confirm(peers, confirmation.id, writing(call))], purges: false };
  }
  await requireSweepManage(peers, call);
  switch (confirmation.kind) {
    case "environment": {
      const { environmentId } = await findEnvironment(peers, call, confirmation.name);
      const ofIt = (hold: SweepHold) => hold.environmentId === environmentId;
      return { holds: await confirmAll(peers, call, ofIt), purges: false };
    }
    case "clock": {
      const holds = await confirmAll(peers, call, ({ kind }) => kind === "clock");
      return { holds, purges: await confirmPurges(peers, call) };
    }
  }
}

/**
 * As the evaluator asks of every confirmation: here there may be none to ask it for, and the refusal is the same. The
 * catalog knows the roles that are bound in the tenant.
 */
async function requireSweepManage(peers: HoldPeers, call: Call): Promise<void> {
  if (hasRight(call.principal, RIGHT)) return;
  const { rights } = await peers.access.getTenantRights({}, reading(call));
  if (!hasRight(call.principal, RIGHT, { rights })) {
    await recordRefusal(peers, call, {
      right: RIGHT,
      resourceKind: "evaluator",
      resourceId: "sweeps",
      resourceName: "sweeps",
    });
  }
  requireRight(call.principal, RIGHT, { rights });
}

async function confirmAll(
  peers: HoldPeers,
  call: Call,
  meant: (hold: SweepHold) => boolean,
): Promise<SweepHold[]> {
  const held: SweepHold[] = [];
  let cursor = "";
  do {
    const page = await peers.evaluator.listSweepHolds({ limit: PAGE, cursor }, reading(call));
    held.push(...page.holds.filter((hold) => hold.confirmedBy === "" && meant(hold)));
    cursor = page.nextCursor;
  } while (cursor !== "");
  // One key is for one request, and these may be several; a repeat of the call finds none of them held.
  const options = { ...writing(call), idempotencyKey: undefined };
  const confirmed: SweepHold[] = [];
  for (const { holdId } of held) confirmed.push(await confirm(peers, holdId, options));
  return confirmed;
}

async function confirm(
  { evaluator }: HoldPeers,
  holdId: string,
  options: CallOptions,
): Promise<SweepHold> {
  const { hold } = await evaluator.confirmSweepHold({ holdId }, options);
  return required(hold, "hold");
}

async function confirmPurges({ catalog }: HoldPeers, call: Call): Promise<boolean> {
  const { clockHold } = await catalog.getPurgeStatus({}, reading(call));
  const waits = clockHold?.confirmedBy === "";
  if (!waits) return false;
  await catalog.confirmPurgeClock({}, writing(call));
  return true;
}
