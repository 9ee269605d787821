import { hasRight, LapseError, type Principal, type Right } from "@lapse/kit";
import { qualifiedName } from "../domain/table.ts";
import type { TableInEnvironment } from "../store/table-row.ts";

/** What a decision is about, as the audit log names it. */
export interface DecidedResource {
  readonly kind: "table" | "environment";
  /** Empty where the thing is not known to exist. */
  readonly id: string;
  readonly name: string;
  /** Name of the environment a table is in. */
  readonly environment: string;
}

/** A refused call; it is recorded once its transaction has rolled back. */
export class AccessDenied extends LapseError {
  readonly principal: Principal;
  readonly right: Right;
  readonly resource: DecidedResource;

  constructor(principal: Principal, right: Right, resource: DecidedResource) {
    super({
      kind: "denied",
      reason: "RIGHT_MISSING",
      message: `${principal.subject} lacks the right ${right} on ${resource.kind} ${resource.name}; ask its owner or an admin`,
      details: { right, subject: principal.subject },
    });
    this.principal = principal;
    this.right = right;
    this.resource = resource;
  }
}

/** @throws AccessDenied unless the principal has one of the rights on the resource; the first is the one named. */
export function requireAnyRight(
  principal: Principal,
  rights: readonly [Right, ...Right[]],
  resource: DecidedResource,
  owner?: string,
): void {
  if (!rights.some((right) => hasRight(principal, right, { owner }))) {
    throw new AccessDenied(principal, rights[0], resource);
  }
}

/** @throws AccessDenied unless the principal has one of the rights on this table; its owner has them all. */
export const requireTableRight = (
  principal: Principal,
  entry: TableInEnvironment,
  ...rights: [Right, ...Right[]]
): void => requireAnyRight(principal, rights, tableResource(entry), entry.table.owner);

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
