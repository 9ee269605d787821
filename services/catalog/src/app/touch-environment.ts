import { appendEvent } from "@lapse/kit";
import { touchEnvironment as touch } from "../domain/environment.ts";
import { environmentChanged } from "../events/environment-events.ts";
import { saveEnvironment } from "../store/environments.ts";
import { type Call, change } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EnvironmentWithRights } from "./effective-rights.ts";
import { type EnvironmentRef, requireEnvironment } from "./find-environment.ts";

/**
 * Orders a coming change of the environment's retention against every drop in it: from its commit on, no due event
 * issued before drops anything. One row is written, however many tables there are (T8).
 */
export const touchEnvironment = <A>(
  deps: CatalogDeps,
  call: Call<EnvironmentWithRights, A>,
  ref: EnvironmentRef,
): Promise<A> =>
  change(deps, call, async (tx) => {
    const { principal, traceparent } = call;
    const before = await requireEnvironment(tx, principal, ref, "environment.manage", {
      lock: "update",
    });
    const after = touch(before);
    await saveEnvironment(tx, after);
    await appendEvent(tx, environmentChanged(after, { actor: principal.subject, traceparent }));
    return after;
  });
