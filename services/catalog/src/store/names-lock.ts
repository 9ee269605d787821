import type { Queryable } from "@lapse/kit";

/**
 * Orders what gives tables of an environment a name (create, rename, undrop, first commit: `share`) against what looks at
 * all names at once (a deployment, the deletion of a namespace or of the environment: `update`), for the rest of the
 * transaction. Always taken before any row of a table is locked, and those before the environment's: in one order, none
 * waits for another in a circle.
 */
export async function lockNames(
  tx: Queryable,
  environmentId: string,
  mode: "share" | "update",
): Promise<void> {
  const lock = mode === "share" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock";
  await tx.query(`select ${lock}(hashtextextended('lapse.catalog.names/' || $1, 0))`, [
    environmentId,
  ]);
}
