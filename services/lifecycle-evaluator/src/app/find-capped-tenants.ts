import type { Queryable } from "@lapse/kit";
import type { DueCursor } from "../domain/due-order.ts";
import { type DueScope, findDueTables } from "../store/due-tables.ts";

/** Where a sweep has stopped. */
export interface Stopped {
  readonly horizon: Date;
  readonly scope: DueScope;
  readonly cursor: DueCursor;
}

/**
 * The tenants of which a sweep has left due tables to the next one: each is told of its own only. As many probes as
 * there are such tenants, and one.
 */
export async function findCappedTenants(
  tx: Queryable,
  { horizon, scope, cursor }: Stopped,
): Promise<readonly string[]> {
  const capped: string[] = [];
  for (;;) {
    const [next] = await findDueTables(tx, {
      horizon,
      cursor,
      limit: 1,
      scope: { ...scope, exceptTenants: [...scope.exceptTenants, ...capped] },
    });
    if (next === undefined) {
      return capped;
    }
    capped.push(next.facts.tenant);
  }
}
