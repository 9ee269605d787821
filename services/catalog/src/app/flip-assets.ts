import { appendEvents, type Queryable } from "@lapse/kit";
import type { Environment } from "../domain/environment.ts";
import type { AssetName } from "../domain/project.ts";
import { flipAsset } from "../domain/table-changes.ts";
import { tableChanged } from "../events/table-events.ts";
import { findAssetFlips } from "../store/projects.ts";
import { lockTables, saveAssetFlips } from "../store/tables.ts";
import type { Caller } from "./call.ts";

/**
 * Lets the live tables follow that a project builds these names from now on, and says how many became an asset or are
 * none any more. No activity, but a change: a due event issued before drops none of them. The environment's names are
 * locked for update; the deployment is written after this.
 */
export async function flipAssets(
  tx: Queryable,
  { principal, traceparent }: Caller,
  {
    environment,
    project,
    assets,
  }: { environment: Environment; project: string; assets: readonly AssetName[] },
): Promise<number> {
  const { environmentId } = environment;
  const flips = await findAssetFlips(tx, { environmentId, project }, assets);
  if (flips.length === 0) return 0;
  // One that was dropped before its row was locked is an asset of nobody.
  const live = (await lockTables(tx, flips, "wait")).filter(({ table }) => table.state === "live");
  const flipped = live.map((entry) => ({ ...entry, table: flipAsset(entry.table) }));
  await saveAssetFlips(
    tx,
    flipped.map(({ table }) => table),
  );
  await appendEvents(
    tx,
    flipped.map((entry) => tableChanged(entry, "asset", { actor: principal.subject, traceparent })),
  );
  return flipped.length;
}
