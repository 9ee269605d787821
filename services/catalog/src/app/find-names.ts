import type { Principal, Queryable } from "@lapse/kit";
import { lockNames } from "../store/names-lock.ts";
import type { EnvironmentWithRights, Wanted } from "./effective-rights.ts";
import {
  type EnvironmentOptions,
  type EnvironmentRef,
  requireEnvironment,
} from "./find-environment.ts";

/**
 * The environment that `requireEnvironment` gives, its names locked for the rest of the transaction, see `lockNames`: it
 * is there also then.
 */
export async function requireEnvironmentNames(
  tx: Queryable,
  principal: Principal,
  ref: EnvironmentRef,
  wanted: Wanted,
  mode: "share" | "update",
  options: EnvironmentOptions = {},
): Promise<EnvironmentWithRights> {
  const { about } = options;
  const found = await requireEnvironment(tx, principal, ref, wanted, about ? { about } : {});
  const { environmentId } = found;
  await lockNames(tx, environmentId, mode);
  return requireEnvironment(tx, principal, { kind: "id", environmentId }, wanted, options);
}
