import type { LapseError, Principal, Role, TableGrant } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import { aName, type Lab } from "./lab.ts";
import { tableById } from "./tables.ts";

/** A person of tenant `local`, with these roles in the token. */
export const person = (subject: string, ...roles: Role[]): Principal => ({
  subject,
  tenant: "local",
  roles,
  kind: "person",
});

/** Somebody whom no other test gives anything. */
export const somebody = (...roles: Role[]): Principal => person(aName(), ...roles);

export const ANA = person("ana", "data_engineer");
export const ROOT = person("root", "admin");

export const inEnvironment = (name: string) =>
  ({ environment: { ref: { case: "name", value: name } } }) as const;

/** Grants on a table, by its owner ana. */
export async function grant(
  lab: Lab,
  { tableId }: Pick<Table, "tableId">,
  { subject }: Pick<Principal, "subject">,
  ...rights: TableGrant[]
): Promise<void> {
  for (const right of rights) {
    await lab.access(ANA).grantTable({ ...tableById(tableId), subject, right });
  }
}

/** A role in an environment, or in the tenant where none is named, by an admin. */
export async function bind(
  lab: Lab,
  { subject }: Pick<Principal, "subject">,
  role: Role,
  environment?: string,
): Promise<void> {
  const where = environment === undefined ? {} : inEnvironment(environment);
  await lab.access(person("root", "superadmin")).grantRole({ subject, role, ...where });
}

/** The refusals about a thing that were recorded, oldest first. */
export async function refusals(lab: Lab, id: string, { subject }: Pick<Principal, "subject">) {
  const decisions = await lab.decisions(id);
  return decisions.filter(
    ({ type, actor }) => type === "AUTHORIZATION_DENIED" && actor === subject,
  );
}

/** What each of these calls, made at once, was refused with; fails where one was not. */
export async function eachRefused(calls: readonly Promise<unknown>[]): Promise<LapseError[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome, index) => {
    if (outcome.status === "rejected") return outcome.reason;
    throw new Error(`call ${index} was not refused`);
  });
}
