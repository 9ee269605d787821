import {
  appendDecisions,
  appendEvents,
  type DecisionEvent,
  databaseClock,
  type Queryable,
} from "@lapse/kit";
import { advance, type DueCursor } from "../domain/due-order.ts";
import { type DueRetention, dueRetention } from "../domain/due-retention.ts";
import { type SweepProgress, withinShare } from "../domain/sweep-budget.ts";
import type { TableFacts } from "../domain/table-facts.ts";
import { tableDueEvent } from "../events/table-due.ts";
import { SERVICE } from "../service-name.ts";
import { type DueScope, type DueTable, findDueTables } from "../store/due-tables.ts";
import { insertCandidates } from "../store/sweep-candidates.ts";
import type { EvaluatorDeps } from "./deps.ts";

/** What a sweep issues next. */
export interface Chunk {
  readonly sweepId: string;
  /** Due at or before it. */
  readonly horizon: Date;
  readonly limit: number;
  readonly cursor: DueCursor;
  readonly scope: DueScope;
  /** How many tables of one tenant may be dropped, and what of that is used up. */
  readonly share: number;
  readonly progress: ReadonlyMap<string, SweepProgress>;
}

/** What was issued. */
export interface Issued {
  readonly issued: number;
  readonly cursor: DueCursor;
  /** Whether nothing is left after the cursor but of tenants whose share is used up. */
  readonly exhausted: boolean;
  /** The tenants of which some were found and left, as their share is used up. */
  readonly spent: readonly string[];
}

/**
 * Issues the most overdue tables after the cursor, of each tenant within its share: for each, its place in the
 * sweep's record, a decision and the due event, together.
 */
export async function issueDueTables(
  tx: Queryable,
  { log }: Pick<EvaluatorDeps, "log">,
  { sweepId, horizon, limit, cursor, scope, share, progress }: Chunk,
): Promise<Issued> {
  const all = await findDueTables(tx, { horizon, limit, cursor, scope });
  const found = withinShare(all, ({ facts }) => facts.tenant, { progress, share });
  const due = agreed(found, horizon, log);
  const fresh = await insertCandidates(
    tx,
    sweepId,
    due.map(({ facts }) => ({
      tableId: facts.tableId,
      tenant: facts.tenant,
      name: qualifiedName(facts),
    })),
  );
  const issuing = due.filter(({ facts }) => fresh.has(facts.tableId));
  const issuedAt = await databaseClock(tx).now();
  await appendDecisions(
    tx,
    issuing.map(({ facts, retention }) => dueDecision(facts, retention, sweepId)),
    issuedAt,
  );
  await appendEvents(
    tx,
    issuing.map(({ facts, retention }) => tableDueEvent(facts, retention, { sweepId, issuedAt })),
  );
  return {
    issued: issuing.length,
    cursor: advance(
      cursor,
      found.map(({ place }) => place),
    ),
    exhausted: all.length < limit,
    spent: all.filter((table) => !found.includes(table)).map(({ facts }) => facts.tenant),
  };
}

/**
 * Those that the arithmetic calls due as well. The indexes may not know the latest reads of a table yet, which the
 * arithmetic does; whatever else they say otherwise keeps too.
 */
export function agreed(
  found: readonly DueTable[],
  now: Date,
  log: EvaluatorDeps["log"],
): readonly { readonly facts: TableFacts; readonly retention: DueRetention }[] {
  return found.flatMap(({ facts, place }) => {
    const retention = dueRetention(facts, now);
    if (retention === null) {
      log.debug({ table_id: facts.tableId, place }, "the index calls a table due that is not");
      return [];
    }
    return [{ facts, retention }];
  });
}

function dueDecision(facts: TableFacts, retention: DueRetention, sweepId: string): DecisionEvent {
  const { source, days, on, setBy } = retention;
  return {
    service: SERVICE,
    tenant: facts.tenant,
    type: "TABLE_DUE",
    resource: {
      kind: "table",
      id: facts.tableId,
      name: qualifiedName(facts),
      environment: facts.environment,
    },
    outcome: "done",
    reason: "retention",
    details: {
      retention: {
        source,
        ...(days === null ? {} : { days }),
        ...(on === null ? {} : { on }),
        set_by: setBy,
        set_at: retention.setAt.toISOString(),
        last_activity_at: retention.lastActivityAt.toISOString(),
        expired_at: retention.expiredAt.toISOString(),
      },
    },
    runId: sweepId,
  };
}

/** `bronze.trial`. */
function qualifiedName({ namespace, name }: TableFacts): string {
  return `${namespace}.${name}`;
}
