import type { Queryable } from "@lapse/kit";

/** Who holds a lease now, as shown to operators; undefined: nobody. */
export async function findLeaseHolder(db: Queryable, name: string): Promise<string | undefined> {
  const { rows } = await db.query<{ holder: string }>(
    `select holder from lapse_kit.lease where name = $1 and expires_at > now()`,
    [name],
  );
  return rows[0]?.holder;
}
