import { LapseError, type Principal, type Right } from "@lapse/kit";
import { qualifiedName } from "../domain/table.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { asked, type Standing, type TableWithRights, type Wanted } from "./effective-rights.ts";

/** What a decision is about, as the audit log names it. */
export interface DecidedResource {
  readonly kind: "table" | "environment" | "namespace" | "project" | "tenant" | "api_key";
  /** Empty where the thing is not known to exist. */
  readonly id: string;
  readonly name: string;
  /** Name of the environment it is in; empty for those that are in none. */
  readonly environment: string;
}

/** A refused call; it is recorded once its transaction has rolled back. */
export class AccessDenied extends LapseError {
  readonly principal: Principal;
  readonly right: Right;
  readonly resource: DecidedResource;

  /** `shown` is how the caller named the thing, where it may not learn what else there is to it. */
  constructor(
    principal: Principal,
    right: Right,
    resource: DecidedResource,
    { shown = resource.name, advice = "ask its owner or an admin" } = {},
  ) {
    super({
      kind: "denied",
      reason: "RIGHT_MISSING",
      message: `${principal.subject} lacks the right ${right} on ${resource.kind} ${shown}; ${advice}`,
      details: { right, subject: principal.subject },
    });
    this.principal = principal;
    this.right = right;
    this.resource = resource;
  }
}

/** @throws AccessDenied unless one of the rights that are wanted is among those the principal has there. */
export function requireRightOn(
  principal: Principal,
  { rights }: Pick<Standing, "rights">,
  wanted: Wanted,
  resource: DecidedResource,
): void {
  const [first, ...others] = asked(wanted);
  if (![first, ...others].some((right) => rights.includes(right))) {
    throw new AccessDenied(principal, first, resource);
  }
}

/** @throws AccessDenied unless the principal has one of the rights on this table. */
export const requireTableRight = (
  principal: Principal,
  entry: TableWithRights,
  wanted: Wanted,
): void => requireRightOn(principal, entry, wanted, tableResource(entry));

/** How the audit log names a table. */
export const tableResource = ({ table, environment }: TableInEnvironment): DecidedResource => ({
  kind: "table",
  id: table.tableId,
  name: qualifiedName(table),
  environment: environment.name,
});

/** How the audit log names an environment. */
export const environmentResource = (environment: {
  readonly environmentId: string;
  readonly name: string;
}): DecidedResource => ({
  kind: "environment",
  id: environment.environmentId,
  name: environment.name,
  environment: "",
});

/** How the audit log names a whole tenant. */
export const tenantResource = (tenant: string): DecidedResource => ({
  kind: "tenant",
  id: tenant,
  name: tenant,
  environment: "",
});
