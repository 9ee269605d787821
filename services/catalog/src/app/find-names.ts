import type { Principal, Queryable } from "@lapse/kit";
import { lockNames } from "../store/names-lock.ts";
import type { EnvironmentWithRights, Wanted } from "./effective-rights.ts";
import {
  type EnvironmentOptions,
  type EnvironmentRef,
  environmentOf,
  requireEnvironment,
  unknownEnvironment,
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
  const { about, lock } = options;
  const found = await requireEnvironment(tx, principal, ref, wanted, about ? { about } : {});
  const { environmentId } = found;
  await lockNames(tx, environmentId, mode);
  const current = await environmentOf(tx, principal, { kind: "id", environmentId }, lock);
  if (!current) throw await unknownEnvironment(tx, principal, ref, wanted, about);
  return { ...found, ...current };
}
