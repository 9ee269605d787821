import type { Role } from "@lapse/sdk";
import { InvalidArgumentError } from "commander";

/** Every role, the lowest first. */
export const ROLES = [
  "reader",
  "writer",
  "data_engineer",
  "admin",
  "superadmin",
] as const satisfies readonly Role[];

/** Reads one more role of an option that may be given several times. */
export function rolesArgument(text: string, before: readonly Role[] = []): Role[] {
  const role = ROLES.find((known) => known === text);
  if (role) return [...before, role];
  throw new InvalidArgumentError(`Give one of ${ROLES.join(", ")}.`);
}
