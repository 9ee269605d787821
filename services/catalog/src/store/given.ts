import type { Queryable, Role, TableGrant } from "@lapse/kit";

/** Whose roles and grants are asked for; a subject is unique within its tenant. */
export interface Subject {
  readonly tenant: string;
  readonly subject: string;
}

/** What somebody has been given by others. */
export interface Given {
  /** Roles that hold in the whole tenant. */
  readonly everywhere: readonly Role[];
  /** Roles by environment id. */
  readonly inEnvironment: ReadonlyMap<string, readonly Role[]>;
  /** Grants by table id, whether they apply at the moment or not. */
  readonly onTable: ReadonlyMap<string, readonly TableGrant[]>;
}

interface GivenRow {
  readonly environment_id: string | null;
  readonly table_id: string | null;
  readonly role: Role | null;
  readonly table_grant: TableGrant | null;
}

/** What the subject has been given in the tenant, in these environments and on these tables: two index probes. */
export async function givenTo(
  db: Queryable,
  { tenant, subject }: Subject,
  { environmentIds, tableIds }: { environmentIds: readonly string[]; tableIds: readonly string[] },
): Promise<Given> {
  const { rows } = await db.query<GivenRow>(
    `select environment_id, null::uuid as table_id, role, null as table_grant from role_binding
     where tenant = $1 and subject = $2 and (environment_id is null or environment_id = any($3))
     union all
     select environment_id, table_id, null, "right" from table_grant
     where subject = $2 and table_id = any($4::uuid[])`,
    [tenant, subject, environmentIds, tableIds],
  );
  const everywhere: Role[] = [];
  const inEnvironment = new Map<string, Role[]>();
  const onTable = new Map<string, TableGrant[]>();
  for (const { environment_id, table_id, role, table_grant } of rows) {
    if (role && environment_id === null) everywhere.push(role);
    else if (role && environment_id !== null) add(inEnvironment, environment_id, role);
    else if (table_grant && table_id !== null) add(onTable, table_id, table_grant);
  }
  return { everywhere, inEnvironment, onTable };
}

/**
 * Whether the subject owns a table of the environment that is there or can be restored, or a grant opens one to it.
 */
export async function hasTableIn(
  db: Queryable,
  { tenant, subject }: Subject,
  environmentId: string,
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (
         select from catalog_table where environment_id = $3 and owner = $2 and state = 'live')
       or exists (
         select from catalog_table
         where environment_id = $3 and owner = $2 and state in ('dropped', 'purging'))
       or exists (
         select from table_grant g join catalog_table t using (table_id)
         where g.tenant = $1 and g.subject = $2 and g.environment_id = $3 and t.state in ('staged', 'live'))
       as found`,
    [tenant, subject, environmentId],
  );
  return rows[0]?.found ?? false;
}

const add = <V>(map: Map<string, V[]>, key: string, value: V): void => {
  map.set(key, [...(map.get(key) ?? []), value]);
};
