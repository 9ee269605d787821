import type { Queryable } from "@lapse/kit";
import type { DecisionRecord } from "../domain/decision.ts";
import { DECISION_COLUMNS, type DecisionRow, fromDecisionRow } from "./decision-record.ts";

/** Which decisions of a tenant are wanted; what is undefined does not narrow. */
export interface DecisionFilter {
  readonly type?: string | undefined;
  /** Id or name of the resource. */
  readonly resource?: string | undefined;
  readonly actor?: string | undefined;
  /** Decided at this instant or later. */
  readonly since?: Date | undefined;
  /** Decided before this instant. */
  readonly until?: Date | undefined;
  readonly runId?: string | undefined;
}

/** A place in the order of {@link searchDecisions}. */
export interface Place {
  readonly at: Date;
  readonly seq: bigint;
}

export interface Page {
  readonly tenant: string;
  readonly filter: DecisionFilter;
  /** Only what comes after this place; null: from the newest on. */
  readonly after: Place | null;
  readonly limit: number;
}

const NEWEST_FIRST = "order by at desc, seq desc";

/** A page of a tenant's decisions, newest first by when they were decided; one index range whatever the filter. */
export async function searchDecisions(
  db: Queryable,
  { tenant, filter, after, limit }: Page,
): Promise<DecisionRecord[]> {
  const values: unknown[] = [];
  const value = bind(values);
  const conditions = [`tenant = ${value(tenant)}`, ...narrow(filter, value)];
  if (after !== null) {
    conditions.push(`(at, seq) < (${value(after.at)}::timestamptz, ${value(after.seq)}::bigint)`);
  }
  const first = `${NEWEST_FIRST} limit ${value(limit)}`;
  const matching = (resource: string) =>
    `select at, seq from decision_record
     where ${[...conditions, resource].join(" and ")} ${first}`;
  // An `or` would read and sort all that was ever decided about the resource.
  if (filter.resource !== undefined) {
    const wanted = value(filter.resource);
    conditions.push(`(at, seq) in (
      (${matching(`resource_id = ${wanted} and resource_id <> ''`)})
      union
      (${matching(`resource_name = ${wanted} and resource_name <> ''`)}))`);
  }
  const { rows } = await db.query<DecisionRow>(
    `select ${DECISION_COLUMNS} from decision_record
     where ${conditions.join(" and ")} ${first}`,
    values,
  );
  return rows.map(fromDecisionRow);
}

export interface ChainRange {
  readonly tenant: string;
  readonly filter: DecisionFilter;
  readonly afterSeq: bigint;
  readonly toSeq: bigint;
  readonly limit: number;
}

/** The matching records of a part of a chain, in its order. */
export async function searchChain(
  db: Queryable,
  { tenant, filter, afterSeq, toSeq, limit }: ChainRange,
): Promise<DecisionRecord[]> {
  const values: unknown[] = [];
  const value = bind(values);
  const conditions = [
    `tenant = ${value(tenant)}`,
    `seq > ${value(afterSeq)}`,
    `seq <= ${value(toSeq)}`,
    ...narrow(filter, value),
  ];
  if (filter.resource !== undefined) {
    const wanted = value(filter.resource);
    conditions.push(`(resource_id = ${wanted} or resource_name = ${wanted})`);
  }
  const { rows } = await db.query<DecisionRow>(
    `select ${DECISION_COLUMNS} from decision_record
     where ${conditions.join(" and ")} order by seq limit ${value(limit)}`,
    values,
  );
  return rows.map(fromDecisionRow);
}

type Bind = (value: unknown) => string;

/** Adds a parameter and names it. */
function bind(values: unknown[]): Bind {
  return (value) => `$${values.push(value)}`;
}

/** The conditions of all of a filter but its resource. Those for a partial index repeat its predicate. */
function narrow(filter: DecisionFilter, value: Bind): string[] {
  const conditions: string[] = [];
  if (filter.type !== undefined) {
    conditions.push(`type = ${value(filter.type)}`);
  }
  if (filter.actor !== undefined) {
    conditions.push(`actor = ${value(filter.actor)} and actor <> ''`);
  }
  if (filter.runId !== undefined) {
    conditions.push(`run_id = ${value(filter.runId)} and run_id <> ''`);
  }
  if (filter.since !== undefined) {
    conditions.push(`at >= ${value(filter.since)}`);
  }
  if (filter.until !== undefined) {
    conditions.push(`at < ${value(filter.until)}`);
  }
  return conditions;
}
