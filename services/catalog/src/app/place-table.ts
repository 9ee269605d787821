import type { Queryable } from "@lapse/kit";
import { withAsset } from "../domain/project.ts";
import type { Table } from "../domain/table.ts";
import { insertNamespace } from "../store/namespaces.ts";
import { findAsset } from "../store/projects.ts";

/**
 * What follows from the name that a table gets: its namespace is there, and a live one is an asset where a current
 * project builds a table of that name (T20). The environment's names are locked.
 */
export async function placeTable(
  tx: Queryable,
  table: Table,
  { actor, now }: { actor: string; now: Date },
): Promise<Table> {
  const { environmentId, namespace } = table;
  await insertNamespace(tx, { environmentId, path: namespace, createdBy: actor, createdAt: now });
  return table.state === "live" ? withAsset(table, await findAsset(tx, table)) : table;
}
