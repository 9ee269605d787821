import { fromBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type CallOptions, LapseError } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import type { TableExpiry } from "@lapse/proto/evaluator";
import {
  type Decision,
  DecisionSchema,
  TableKind,
  type TableRule,
  TableState,
} from "@lapse/proto/events";
import type { Seen, SeenDecision, SeenExpiry, SeenTable } from "../rules/seen.ts";
import { SERVICES, type Stack } from "./stack.ts";
import type { Subject } from "./subject.ts";

const LIMIT = 1000;

/** Everything that is the same for all environments at once, in as few calls as can be. */
export interface Overview {
  /** The protected environments, by id. */
  readonly protected: ReadonlySet<string>;
  readonly retentions: ReadonlyMap<string, NonNullable<Seen["retention"]>>;
  readonly decisionsIn: (subject: Subject) => readonly SeenDecision[];
}

const asRoot = (tenant: string): CallOptions => ({
  principal: { subject: "root", tenant, roles: ["admin"], kind: "person" },
});

export async function overview(
  stack: Stack,
  subjects: readonly Subject[],
  reader: DecisionReader,
): Promise<Overview> {
  const tenants = [...new Set(subjects.map(({ tenant }) => tenant))];
  const [lists, { retentions }, decisionsIn] = await Promise.all([
    Promise.all(
      tenants.map((tenant) => stack.catalog.listEnvironments({ limit: LIMIT }, asRoot(tenant))),
    ),
    stack.policy.batchGetEnvironmentRetentions({
      environmentIds: subjects.map(({ environmentId }) => environmentId),
    }),
    reader.read(),
  ]);
  const environments = lists.flatMap((list) => list.environments);
  return {
    protected: new Set(
      environments.flatMap((each) => (each.protected ? [each.environmentId] : [])),
    ),
    retentions: new Map(
      retentions.flatMap(({ environmentId, days = null, setBy, setAt }) =>
        setAt ? [[environmentId, { days, setBy, setAt: ms(setAt) }]] : [],
      ),
    ),
    decisionsIn,
  };
}

/** Everything the services say of an environment. */
export async function observe(
  { catalog, evaluator }: Stack,
  subject: Subject,
  all: Overview,
): Promise<Seen> {
  const { tenant, environmentId } = subject;
  const environment = { ref: { case: "environmentId" as const, value: environmentId } };
  const from = Date.now();
  const [live, dropped, expiring, { expiries }] = await Promise.all([
    catalog.listTables({ environment, limit: LIMIT }, asRoot(tenant)),
    catalog.listDroppedTables({ environment, limit: LIMIT }, asRoot(tenant)),
    evaluator.listExpiringTables({ environmentId, limit: LIMIT }, asRoot(tenant)),
    evaluator.batchGetTableExpiry(
      { tables: subject.tableIds.map((tableId) => ({ tableId })) },
      asRoot(tenant),
    ),
  ]);
  return {
    now: { from, to: Date.now() },
    protected: all.protected.has(environmentId),
    retention: all.retentions.get(environmentId) ?? null,
    tables: [...live.tables, ...dropped.tables].map(seenTable),
    expiries: new Map(expiries.map((expiry) => [expiry.tableId, seenExpiry(expiry)])),
    expiring: expiring.tables.map(({ tableId }) => tableId),
    decisions: all.decisionsIn(subject),
  };
}

/** How many reads of each table are counted; of one that is purged they are forgotten. */
export async function observeReads(
  { evaluator }: Stack,
  { tenant, tableIds }: Subject,
): Promise<ReadonlyMap<string, number>> {
  const reads = await Promise.all(
    tableIds.map(async (tableId) => {
      const counted = await evaluator
        .getTableReads({ tableId }, asRoot(tenant))
        .catch((error: unknown) => {
          if (error instanceof LapseError && error.reason === "TABLE_NOT_FOUND") return undefined;
          throw error;
        });
      const all = counted?.days.reduce((sum, day) => sum + Number(day.reads), 0);
      return all === undefined ? [] : [[tableId, all] as const];
    }),
  );
  return new Map(reads.flat());
}

const ms = (at: Timestamp): number => timestampDate(at).getTime();
const nameIn = (names: Readonly<Record<string, number>>, value: number): string =>
  Object.keys(names)
    .find((name) => names[name] === value)
    ?.toLowerCase() ?? String(value);
const msOrNull = (at: Timestamp | undefined): number | null => (at ? ms(at) : null);

const seenTable = (table: Table): SeenTable => ({
  tableId: table.tableId,
  namespace: table.namespace,
  name: table.name,
  kind: nameIn(TableKind, table.kind),
  state: nameIn(TableState, table.state),
  owner: table.owner,
  description: table.description,
  rows: Number(table.rowCount),
  files: table.fileCount,
  createdAt: msOrNull(table.createdAt) ?? Number.NaN,
  changedAt: msOrNull(table.lastChangedAt) ?? Number.NaN,
  restoredAt: msOrNull(table.restoredAt),
  drop:
    table.droppedAt && table.undoUntil
      ? { at: ms(table.droppedAt), reason: table.dropReason, undoUntil: ms(table.undoUntil) }
      : null,
});

const seenExpiry = (expiry: TableExpiry): SeenExpiry => ({
  source: expiry.source,
  rule: ruleText(expiry.rule),
  setBy: expiry.setBy,
  setAt: msOrNull(expiry.setAt),
  lastActivityAt: msOrNull(expiry.lastActivityAt),
  lastActivityKind: expiry.lastActivityKind,
  expiresAt: msOrNull(expiry.expiresAt),
  kept: expiry.kept,
});

function ruleText(rule: TableRule | undefined): string {
  switch (rule?.rule.case) {
    case "days":
      return `${rule.rule.value} days`;
    case "on":
      return `on ${rule.rule.value}`;
    case "never":
      return "never";
    case undefined:
      return "";
  }
}

/** Reads the outboxes of all services from where it read last; all must be quiet. */
export class DecisionReader {
  readonly #stack: Stack;
  readonly #read = new Map<string, bigint>();
  /** Of all that were read, by tenant. */
  readonly ids = new Map<string, string[]>();

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  /** Leaves out what is there by now. */
  async skip(): Promise<void> {
    for (const name of SERVICES) {
      const { rows } = await this.#stack.pools[name].query<{ last: bigint }>(
        "select coalesce(max(position), 0) as last from lapse_kit.outbox",
      );
      this.#read.set(name, rows[0]?.last ?? 0n);
    }
  }

  /** The new decisions, by tenant and environment. */
  async read(): Promise<(subject: Subject) => readonly SeenDecision[]> {
    const found = new Map<string, SeenDecision[]>();
    for (const name of SERVICES) {
      for (const decision of await this.#readFrom(name)) {
        const { tenant, id } = decision;
        this.ids.set(tenant, [...(this.ids.get(tenant) ?? []), id]);
        const place = placeOf(tenant, environmentOf(decision));
        found.set(place, [...(found.get(place) ?? []), seenDecision(decision)]);
      }
    }
    return ({ tenant, environment }) => found.get(placeOf(tenant, environment)) ?? [];
  }

  async #readFrom(name: (typeof SERVICES)[number]): Promise<Decision[]> {
    const { rows } = await this.#stack.pools[name].query<{ position: bigint; body: Buffer }>(
      `select position, body from lapse_kit.outbox where stream = 'DECISION' and position > $1
       order by position`,
      [this.#read.get(name) ?? 0n],
    );
    const last = rows.at(-1);
    if (last) this.#read.set(name, last.position);
    return rows.map(({ body }) => fromBinary(DecisionSchema, body));
  }
}

const placeOf = (tenant: string, environment: string): string => `${tenant}/${environment}`;

const environmentOf = ({ resource }: Decision): string =>
  (resource?.kind === "environment" ? resource.name : resource?.environment) ?? "";

const seenDecision = ({ type, actor, reason, resource, details }: Decision): SeenDecision => ({
  type,
  actor,
  reason,
  resource: resource?.id ?? "",
  details: (details ?? {}) as Record<string, unknown>,
});
