import { type Pool, withTransaction } from "@lapse/kit";
import { recomputeOwnDue, setDaySeconds } from "../store/basis.ts";

/**
 * Makes a retention day as long as this process was told; whether it was another before. Then every due
 * time by a table's own rule is computed anew.
 */
export function adoptDayLength(pool: Pool, daySeconds: number): Promise<boolean> {
  return withTransaction(pool, async (tx) => {
    const changed = await setDaySeconds(tx, daySeconds);
    if (changed) {
      await recomputeOwnDue(tx);
    }
    return changed;
  });
}
