import { type Pool, withTransaction } from "@lapse/kit";
import { recomputeOwnDue, setDaySeconds } from "../store/basis.ts";

/**
 * Makes a retention day as long as this process was told. Where it was another before, every due time by a
 * table's own rule is computed anew; of how many tables.
 */
export function adoptDayLength(pool: Pool, daySeconds: number): Promise<number> {
  return withTransaction(pool, async (tx) =>
    (await setDaySeconds(tx, daySeconds)) ? recomputeOwnDue(tx) : 0,
  );
}
