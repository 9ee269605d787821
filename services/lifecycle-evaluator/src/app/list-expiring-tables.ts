import { type CallContext, databaseClock, notFound, withTransaction } from "@lapse/kit";
import { advance, type DueCursor } from "../domain/due-order.ts";
import { findDueTables } from "../store/due-tables.ts";
import { findEnvironment } from "../store/environments.ts";
import { authorise, belongsTo } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";
import { readableTables } from "./readable-tables.ts";
import { answerExpiry, type TableExpiryAnswer } from "./table-expiry-answer.ts";

/** Which tables of an environment are listed. */
export interface ListExpiringTables {
  readonly environmentId: string;
  /** Retention days; null: the warning window. */
  readonly withinDays: number | null;
  readonly limit: number;
  readonly cursor: DueCursor;
}

/** One page. */
export interface ExpiringTables {
  readonly tables: readonly TableExpiryAnswer[];
  /** Null: this was the last page. */
  readonly next: DueCursor | null;
}

/**
 * The tables of an environment that expire within the window, those overdue included, soonest first (T11).
 * A table that is kept is none of them, and neither is one that the caller may not read: it is left out before the
 * list is cut into pages. Pages go on where the last one ended in either order of the tables, whatever has
 * changed since.
 *
 * @throws not_found `ENVIRONMENT_NOT_FOUND`; denied `RIGHT_MISSING`; unavailable where the catalog must be asked for
 *   the caller's rights and cannot be
 */
export async function listExpiringTables(
  deps: EvaluatorDeps,
  { environmentId, withinDays, limit, cursor }: ListExpiringTables,
  call: CallContext,
): Promise<ExpiringTables> {
  const environment = await findEnvironment(deps.pool, environmentId);
  if (environment === undefined || !belongsTo(call.principal, environment.tenant)) {
    // Who may not read all of the tenant is not told either that there is none.
    const unknown = { kind: "environment", id: environmentId, name: "", environment: "" } as const;
    await authorise(deps, call, "table.read", unknown);
    throw notFound(
      "ENVIRONMENT_NOT_FOUND",
      `there is no environment ${environmentId}; look at the list of environments`,
    );
  }
  const readable = await readableTables(deps, environment, call);
  const { warningDays } = deps.rules;
  return withTransaction(deps.pool, async (tx) => {
    const now = await databaseClock(tx).now();
    const windowMs = (withinDays ?? warningDays) * environment.daySeconds * 1000;
    const found = await findDueTables(tx, {
      horizon: new Date(now.getTime() + windowMs),
      limit: limit + 1,
      cursor,
      environmentId,
      ...(readable !== undefined && { readable }),
    });
    const page = found.slice(0, limit);
    return {
      tables: page.map(({ facts }) => answerExpiry(facts, { now, warningDays })),
      next:
        found.length > limit
          ? advance(
              cursor,
              page.map(({ place }) => place),
            )
          : null,
    };
  });
}
