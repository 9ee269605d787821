import type { Queryable } from "@lapse/kit";
import { nameKey, type TableName } from "../domain/table-name.ts";

/** The ids of the live tables with these names, by {@link nameKey}; a name nobody has is left out. */
export async function findTableIds(
  db: Queryable,
  names: readonly TableName[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ place: bigint; table_id: string }>({
    name: "find-table-ids",
    text: `
      select n.place, t.table_id
      from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
        as n (tenant, environment, namespace, name, place)
      join environment_state e on e.tenant = n.tenant and e.name = n.environment and not e.deleted
      join table_state t on t.environment_id = e.environment_id and t.namespace = n.namespace
        and t.name = n.name and t.state = 'live'`,
    values: [
      names.map(({ tenant }) => tenant),
      names.map(({ environment }) => environment),
      names.map(({ namespace }) => namespace),
      names.map(({ name }) => name),
    ],
  });
  const found = new Map<string, string>();
  for (const { place, table_id } of rows) {
    const name = names[Number(place) - 1];
    if (name !== undefined) {
      found.set(nameKey(name), table_id);
    }
  }
  return found;
}
