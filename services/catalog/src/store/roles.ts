import type { Queryable, Role } from "@lapse/kit";

/** A role that somebody has in a tenant, or in one environment of it. */
export interface RoleBinding {
  readonly tenant: string;
  readonly subject: string;
  readonly role: Role;
  /** Null: everywhere in the tenant. */
  readonly environmentId: string | null;
  readonly grantedBy: string;
  readonly grantedAt: Date;
}

/** A binding with the name of its environment; empty where it holds everywhere. */
export interface NamedBinding extends RoleBinding {
  readonly environment: string;
}

interface BindingRow {
  readonly tenant: string;
  readonly subject: string;
  readonly role: Role;
  readonly environment_id: string | null;
  readonly environment: string;
  readonly granted_by: string;
  readonly granted_at: Date;
}

const EVERYWHERE = "00000000-0000-0000-0000-000000000000";
const COLUMNS = `b.tenant, b.subject, b.role, b.environment_id, coalesce(e.name, '') as environment,
  b.granted_by, b.granted_at`;
const SOURCE = "role_binding b left join environment e using (environment_id)";
/** As the index has it. */
const PLACE = `coalesce(b.environment_id, '${EVERYWHERE}')`;

const toBinding = (row: BindingRow): NamedBinding => ({
  tenant: row.tenant,
  subject: row.subject,
  role: row.role,
  environmentId: row.environment_id,
  environment: row.environment,
  grantedBy: row.granted_by,
  grantedAt: row.granted_at,
});

/** Stores a binding; false when there is one already. */
export async function insertBinding(tx: Queryable, binding: RoleBinding): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into role_binding (tenant, subject, role, environment_id, granted_by, granted_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [
      binding.tenant,
      binding.subject,
      binding.role,
      binding.environmentId,
      binding.grantedBy,
      binding.grantedAt,
    ],
  );
  return rowCount === 1;
}

export async function findBinding(
  tx: Queryable,
  { tenant, subject, role, environmentId }: Omit<RoleBinding, "grantedBy" | "grantedAt">,
): Promise<NamedBinding | undefined> {
  const { rows } = await tx.query<BindingRow>(
    `select ${COLUMNS} from ${SOURCE}
     where b.tenant = $1 and b.subject = $2 and b.role = $3 and ${PLACE} = $4`,
    [tenant, subject, role, environmentId ?? EVERYWHERE],
  );
  return rows[0] && toBinding(rows[0]);
}

/** Removes a binding; false when there was none. */
export async function deleteBinding(
  tx: Queryable,
  { tenant, subject, role, environmentId }: Omit<RoleBinding, "grantedBy" | "grantedAt">,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `delete from role_binding b
     where b.tenant = $1 and b.subject = $2 and b.role = $3 and ${PLACE} = $4`,
    [tenant, subject, role, environmentId ?? EVERYWHERE],
  );
  return rowCount === 1;
}

/** A page of bindings begins after this one. */
export interface BindingCursor {
  readonly subject: string;
  readonly role: string;
  /** Null: the one that holds everywhere. */
  readonly environmentId: string | null;
}

/** Bindings of a tenant by subject and role; of one environment, or one subject, where it is given. */
export async function listBindings(
  db: Queryable,
  page: {
    tenant: string;
    environmentId: string | undefined;
    subject: string | undefined;
    after: BindingCursor | undefined;
    limit: number;
  },
): Promise<NamedBinding[]> {
  const { after } = page;
  const { rows } = await db.query<BindingRow>(
    `select ${COLUMNS} from ${SOURCE}
     where b.tenant = $1 and ($2::uuid is null or b.environment_id = $2)
       and ($3::text is null or b.subject = $3)
       and ($4::text is null or (b.subject, b.role, ${PLACE}) > ($4, $5, $6::uuid))
     order by b.subject, b.role, ${PLACE} limit $7`,
    [
      page.tenant,
      page.environmentId ?? null,
      page.subject ?? null,
      after?.subject ?? null,
      after?.role ?? null,
      after ? (after.environmentId ?? EVERYWHERE) : null,
      page.limit,
    ],
  );
  return rows.map(toBinding);
}
