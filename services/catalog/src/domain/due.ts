import type { Environment } from "./environment.ts";
import { type Hold, isActive } from "./hold.ts";
import type { Table } from "./table.ts";

/** A rule by which a table can expire (T4). */
export type RetentionRule =
  | { readonly kind: "days"; readonly days: number }
  | { readonly kind: "on"; readonly on: string };

/** Why a table expires, as the evaluator confirmed it (T32). */
export interface ExpiredRetention {
  readonly source: "table" | "environment";
  readonly rule: RetentionRule;
  readonly setBy: string;
  readonly lastActivityAt: Date;
  readonly expiredAt: Date;
}

/** The versions somebody decided on. */
interface Versions {
  readonly changeVersion: bigint;
  readonly retentionVersion: bigint;
  readonly policyVersion: bigint;
}

/** A sweep's finding that a table is due. */
export interface DueTable extends Versions {
  readonly tableId: string;
  readonly tenant: string;
  readonly environmentId: string;
  readonly sweepId: string;
  readonly issuedAt: Date;
}

/** What the evaluator answered when it was asked again, on everything that had reached the streams by then. */
export interface DueConfirmation {
  readonly due: boolean;
  /** What it counted with. */
  readonly seen: Versions;
  /** Undefined when the answer does not hold all that a drop must be explained with. */
  readonly retention: ExpiredRetention | undefined;
}

/** Why a due event led to no drop; the slugs of `TableKept.reason`. */
export const KEPT_REASONS = [
  "stale",
  "not_due",
  "unconfirmed",
  "unknown_table",
  "already_dropped",
  "not_managed",
  "protected",
  "project_asset",
  "held",
  "policy_changed",
  "changed",
  "failed",
] as const;
export type KeptReason = (typeof KEPT_REASONS)[number];

/** Whose retention version the catalog holds ahead of the evaluator, so that it must be settled. */
export interface Settle {
  readonly table: boolean;
  readonly environment: boolean;
}

export type DueDecision =
  | { readonly kind: "drop"; readonly retention: ExpiredRetention }
  | {
      readonly kind: "keep";
      readonly reason: KeptReason;
      readonly detail?: string;
      readonly settle?: Settle;
    };

/** A due event speaks of the moment it was issued; past this the next sweep looks again. */
const FRESH_FOR_MS = 60_000;

/** Whether a due event is too old to act on, or comes from a clock that is that far ahead. */
export const isStale = (due: Pick<DueTable, "issuedAt">, now: Date): boolean =>
  Math.abs(now.getTime() - due.issuedAt.getTime()) > FRESH_FOR_MS;

export interface DueFacts {
  readonly due: DueTable;
  /** Undefined: the evaluator's answer left it out. */
  readonly confirmation: DueConfirmation | undefined;
  /** The locked row; undefined: there is none. */
  readonly table: Table | undefined;
  /** Its environment, locked against change; undefined together with the table. */
  readonly environment: Environment | undefined;
  /** The holds on it, read after its row was locked. */
  readonly holds: readonly Hold[];
  readonly now: Date;
}

/**
 * Whether a due table is dropped. Everything that can forbid it is looked at again here, under the locks of the
 * transaction that drops; whatever is missing or does not match keeps the table.
 */
export function decideDue(facts: DueFacts): DueDecision {
  const { due, confirmation, table, environment, now } = facts;
  if (isStale(due, now)) return keep("stale");
  if (!confirmation) return keep("unconfirmed", "the evaluator's answer left the table out");
  if (!confirmation.due) return keep("not_due");
  const { retention } = confirmation;
  if (!retention) return keep("unconfirmed", "the evaluator's answer lacks the rule or its times");
  if (retention.expiredAt > now) return keep("not_due", "it expires later by this clock");
  if (!table || !environment || table.state === "staged" || table.tenant !== due.tenant) {
    return keep("unknown_table");
  }
  return decidePresent(facts, table, environment, retention, confirmation.seen);
}

function decidePresent(
  { due, holds, now }: DueFacts,
  table: Table,
  environment: Environment,
  retention: ExpiredRetention,
  seen: Versions,
): DueDecision {
  if (table.state !== "live") return keep("already_dropped");
  if (table.kind !== "managed") return keep("not_managed", `it is of kind ${table.kind}`);
  if (environment.protected) return keep("protected");
  if (table.projectAsset) return keep("project_asset");
  const hold = holds.find((hold) => isActive(hold, now));
  if (hold) return keep("held", `a ${hold.kind} hold lasts until ${hold.expiresAt.toISOString()}`);
  if (
    due.retentionVersion !== table.retentionVersion ||
    due.policyVersion !== environment.policyVersion
  ) {
    const settle = {
      table: table.retentionVersion > due.retentionVersion,
      environment: environment.policyVersion > due.policyVersion,
    };
    return { ...keep("policy_changed"), settle };
  }
  if (due.changeVersion !== table.changeVersion) return keep("changed");
  if (!sameVersions(seen, due)) return keep("unconfirmed", "it was confirmed on other versions");
  return { kind: "drop", retention };
}

const keep = (reason: KeptReason, detail?: string) =>
  ({ kind: "keep", reason, ...(detail === undefined ? {} : { detail }) }) as const;

const sameVersions = (a: Versions, b: Versions): boolean =>
  a.changeVersion === b.changeVersion &&
  a.retentionVersion === b.retentionVersion &&
  a.policyVersion === b.policyVersion;
