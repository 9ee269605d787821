import * as z from "zod";

/** Roles in the order of what they may do; each includes those before it. */
export const ROLES = ["reader", "writer", "data_engineer", "admin", "superadmin"] as const;
export type Role = (typeof ROLES)[number];

export const PRINCIPAL_KINDS = ["person", "service", "key"] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

/** The tenant of services, which act for any. */
export const ANY_TENANT = "*";

/** Who calls, or for whom a call is made. A service, and only a service, has the tenant "*". */
export interface Principal {
  /** Stable name, e.g. `ana@example.org`, `catalog`, `key:01890b…`. */
  readonly subject: string;
  /** The organisation; everything it may see belongs to it. */
  readonly tenant: string;
  readonly roles: readonly Role[];
  readonly kind: PrincipalKind;
}

export const isRole = (value: unknown): value is Role => ROLES.some((role) => role === value);

const name = z.string().trim().min(1).max(200);

const shape = z
  .object({
    subject: name,
    tenant: name,
    // A role that a newer release knows gives no right here, and is no reason to refuse the rest.
    roles: z
      .array(z.unknown())
      .default([])
      .transform((roles) => roles.filter(isRole)),
    kind: z.enum(PRINCIPAL_KINDS).default("person"),
  })
  .refine(({ tenant, kind }) => (tenant === ANY_TENANT) === (kind === "service"), {
    path: ["tenant"],
    message: 'a service, and only a service, has the tenant "*"',
  });

/** A principal from claims or from a forwarded header; a text naming every fault if it is none. */
export function parsePrincipal(value: unknown): Principal | string {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  return error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
