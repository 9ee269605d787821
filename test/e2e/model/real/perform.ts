import { create, toBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type CallOptions, LapseError, newId, type Principal } from "@lapse/kit";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import {
  ActivityBatchSchema,
  type TableActivity,
  TableActivitySchema,
  TableKind,
} from "@lapse/proto/events";
import {
  type Aim,
  type Operation,
  type Outcome,
  type Performed,
  SLOTS,
  type Target,
} from "../rules/operation.ts";
import { type Actor, PEOPLE, STRANGER } from "../rules/people.ts";
import { DAY_MS } from "../rules/span.ts";
import type { Stack } from "./stack.ts";

/** A real environment, and what whoever works in it has been told of it. */
export interface Subject {
  readonly tenant: string;
  readonly environment: string;
  readonly environmentId: string;
  /** Ids of all tables that ever were, in order. */
  readonly tableIds: string[];
  readonly holdIds: string[];
  readonly files: Map<string, TableFiles>;
  /** The table that a name stands for, or will once it is committed. */
  readonly idOf: (namespace: string, name: string) => string | undefined;
  /** What can be brought back. */
  readonly dropped: () => readonly DroppedTable[];
}

interface DroppedTable {
  readonly tableId: string;
  readonly namespace: string;
  readonly name: string;
}

interface TableFiles {
  readonly bucket: string;
  readonly keyPrefix: string;
  readonly rows: number;
}

/** What a call comes to besides its times. */
type Answer = Omit<Outcome, "began" | "ended" | "refused">;

/** A busy machine is no difference. */
const DEADLINE_MS = 60_000;
/** How long an answer that the evaluator cannot give yet is asked for again. */
const BEHIND_MS = 30_000;

/** Performs an operation and says what came of it; undefined where there is nothing that it could be aimed at. */
export async function perform(
  stack: Stack,
  subject: Subject,
  operation: Operation,
  { beside }: { readonly beside: boolean },
): Promise<Performed | undefined> {
  const aim = "target" in operation ? aimOf(subject, operation) : undefined;
  if ("target" in operation && aim === undefined) return undefined;
  const hold = holdOf(subject, operation);
  if ((operation.kind === "renew" || operation.kind === "release") && hold === undefined) {
    return undefined;
  }
  const started = Date.now();
  for (let repeated = 0; ; repeated++) {
    const began = Date.now();
    const about: About = {
      beside,
      ...(repeated > 0 && { repeated }),
      ...(aim && { aim }),
      ...(hold !== undefined && { holdId: hold }),
    };
    try {
      const answer = await call(stack, subject, operation, about);
      return { operation, outcome: { ...about, ...answer, began, ended: Date.now() } };
    } catch (error) {
      if (!(error instanceof LapseError)) throw error;
      // Nothing has been done then: the evaluator could not say yet when the table expires.
      if (error.reason === "EVALUATOR_BEHIND" && began - started < BEHIND_MS) continue;
      if (["unavailable", "internal", "unauthenticated"].includes(error.kind)) {
        throw new Error(`${JSON.stringify({ operation, about })} failed: ${error.reason}`, {
          cause: error,
        });
      }
      const asked = {
        ...(operation.kind === "setRetention" && { midnight: midnightOf(operation) }),
        ...committed(subject, operation, aim),
      };
      const refused = error.reason;
      return { operation, outcome: { ...about, ...asked, refused, began, ended: Date.now() } };
    }
  }
}

type About = Pick<Outcome, "beside" | "repeated" | "aim" | "holdId">;
type Aimed = Extract<Operation, { target: unknown }>;

/** Those that take an id only. */
const BY_ID: readonly Operation["kind"][] = ["setRetention", "touchTable"];
/** Those that a writer does before its first commit too. */
const ALSO_STAGED: readonly Operation["kind"][] = ["setRetention", "touchTable", "commit", "hold"];

function aimOf(subject: Subject, { kind, target }: Aimed): Aim | undefined {
  const { tableIds, idOf } = subject;
  const dropped = kind === "undrop" ? subject.dropped() : [];
  if (dropped.length > 0) return aimAtDropped(dropped, target);
  const id = (tableId: string | undefined): Aim | undefined =>
    tableId === undefined ? undefined : { by: "id", tableId };
  if (target.by === "id") {
    return id(tableIds.at(-1 - (target.nth % Math.max(1, tableIds.length))));
  }
  const slot = SLOTS[target.slot] ?? SLOTS[0];
  if (BY_ID.includes(kind)) return id(idOf(slot.namespace, slot.name) ?? tableIds.at(-1));
  const known = ALSO_STAGED.includes(kind) ? idOf(slot.namespace, slot.name) : undefined;
  return known === undefined ? { by: "name", ...slot } : { by: "id", tableId: known };
}

/** At one of those that can be brought back, as far as there are any. */
function aimAtDropped(dropped: readonly DroppedTable[], target: Target): Aim | undefined {
  const nth = target.by === "name" ? target.slot : target.nth;
  const table = dropped.at(-1 - (nth % dropped.length));
  if (table === undefined) return undefined;
  const { tableId, namespace, name } = table;
  return target.by === "name" ? { by: "name", namespace, name } : { by: "id", tableId };
}

function holdOf({ holdIds }: Subject, operation: Operation): string | undefined {
  if (!("hold" in operation) || operation.hold === null || holdIds.length === 0) return undefined;
  return holdIds.at(-1 - (operation.hold % holdIds.length));
}

async function call(
  stack: Stack,
  subject: Subject,
  operation: Operation,
  { aim, holdId }: About,
): Promise<Answer> {
  const { catalog, policy } = stack;
  const { environment, environmentId } = subject;
  const as: CallOptions = { principal: principalOf(subject, operation), deadlineMs: DEADLINE_MS };
  const inEnvironment = { ref: { case: "environmentId" as const, value: environmentId } };
  switch (operation.kind) {
    case "create": {
      const { table } = await catalog.createTable(
        {
          name: { environment, ...(SLOTS[operation.slot] ?? SLOTS[0]) },
          kind: operation.tableKind === "view" ? TableKind.VIEW : TableKind.MANAGED,
          columns: [{ name: "id", type: "BIGINT" }],
          staged: operation.staged,
        },
        as,
      );
      subject.tableIds.push(note(subject, table));
      return { made: table?.tableId ?? "" };
    }
    case "commit":
      return commit(stack, subject, operation, { aim, holdId, as });
    case "describe":
      await catalog.updateTable({ ...refTo(subject, aim), description: operation.text }, as);
      return {};
    case "rename":
      await catalog.updateTable(
        { ...refTo(subject, aim), ...(SLOTS[operation.slot] ?? SLOTS[0]) },
        as,
      );
      return {};
    case "deploy": {
      const { version, assets } = operation;
      const request = { environment: inEnvironment, project: environment, version };
      await catalog.deployProject({ ...request, assets: [...assets] }, as);
      return {};
    }
    case "undeploy":
      await catalog.undeployProject({ environment: inEnvironment, project: environment }, as);
      return {};
    case "drop":
      await catalog.dropTable(refTo(subject, aim), as);
      return {};
    case "undrop":
      await catalog.undropTable({ ...refTo(subject, aim), asName: operation.asName ?? "" }, as);
      return {};
    case "setRetention":
      return setRetention(stack, operation, { tableId: idIn(aim), as });
    case "setEnvironmentRetention": {
      const { days } = operation;
      await policy.setEnvironmentRetention({ environmentId, ...(days !== null && { days }) }, as);
      return {};
    }
    case "protect": {
      await catalog.updateEnvironment(
        { environment: inEnvironment, protected: operation.protected },
        as,
      );
      return {};
    }
    case "deleteEnvironment":
      await catalog.deleteEnvironment({ environment: inEnvironment }, as);
      return {};
    case "touchTable":
      await catalog.touchTable(refTo(subject, aim), as);
      return {};
    case "touchEnvironment":
      await catalog.touchEnvironment({ environment: inEnvironment }, as);
      return {};
    case "hold": {
      const { hold } = await catalog.createHold(refTo(subject, aim), as);
      subject.holdIds.push(hold?.holdId ?? "");
      return { made: hold?.holdId ?? "", until: ms(hold?.expiresAt) };
    }
    case "renew": {
      const { hold } = await catalog.renewHold({ holdId: holdId ?? "" }, as);
      return { until: ms(hold?.expiresAt) };
    }
    case "release":
      await catalog.releaseHold({ holdId: holdId ?? "" }, as);
      return {};
    case "use":
      return report(stack, subject, operation, aim);
  }
}

function principalOf({ tenant }: Subject, operation: Operation): Principal {
  const actor: Actor = "actor" in operation ? operation.actor : "root";
  return actor === STRANGER
    ? { subject: actor, tenant: "elsewhere", roles: ["admin"], kind: "person" }
    : { subject: actor, tenant, roles: [PEOPLE[actor]], kind: "person" };
}

function refTo({ environment }: Subject, aim: Aim | undefined) {
  return {
    table: {
      ref:
        aim?.by === "name"
          ? {
              case: "name" as const,
              value: { environment, namespace: aim.namespace, name: aim.name },
            }
          : { case: "tableId" as const, value: idIn(aim) },
    },
  };
}

const idIn = (aim: Aim | undefined): string => (aim?.by === "id" ? aim.tableId : "");

const ms = (at: Timestamp | undefined): number => (at ? timestampDate(at).getTime() : Number.NaN);

/** Remembers where the table's files go; gives its id. */
function note({ files }: Subject, table: Table | undefined): string {
  if (table === undefined) return "";
  const { tableId, bucket, keyPrefix, rowCount } = table;
  files.set(tableId, { bucket, keyPrefix, rows: Number(rowCount) });
  return tableId;
}

const ROWS = 10;

/** The rows and files of a commit: ten in one new file; a maintenance writes all there are anew. */
function committed({ files, idOf }: Subject, operation: Operation, aim: Aim | undefined) {
  if (operation.kind !== "commit") return {};
  if (operation.commit !== "maintain") return { rows: ROWS, files: 1 };
  const tableId = aim?.by === "name" ? idOf(aim.namespace, aim.name) : aim?.tableId;
  return { rows: files.get(tableId ?? "")?.rows ?? 0, files: 1 };
}

const COMMITS = {
  append: CommitOperation.APPEND,
  replace: CommitOperation.REPLACE,
  maintain: CommitOperation.MAINTAIN,
} as const;

const CONTENT = Buffer.from("PAR1 rows PAR1");

async function commit(
  { catalog, store }: Stack,
  subject: Subject,
  operation: Extract<Operation, { kind: "commit" }>,
  { aim, holdId, as }: { aim: Aim | undefined; holdId: string | undefined; as: CallOptions },
): Promise<Answer> {
  const { rows = 0, files = 1 } = committed(subject, operation, aim);
  const path = `data/${newId()}.parquet`;
  const tableId = aim?.by === "name" ? subject.idOf(aim.namespace, aim.name) : aim?.tableId;
  const place = subject.files.get(tableId ?? "");
  if (place && place.bucket !== "") await store.put(place.bucket, place.keyPrefix + path, CONTENT);
  const { table } = await catalog.commitTable(
    {
      ...refTo(subject, aim),
      operation: COMMITS[operation.commit],
      files: [{ path, byteSize: BigInt(CONTENT.length), rowCount: BigInt(rows) }],
      holdId: holdId ?? "",
    },
    as,
  );
  note(subject, table);
  return { rows, files };
}

const midnightOf = ({ rule }: Extract<Operation, { kind: "setRetention" }>): number =>
  (Math.floor(Date.now() / DAY_MS) + (rule.kind === "on" ? rule.inDays : 0)) * DAY_MS;

async function setRetention(
  { policy }: Stack,
  operation: Extract<Operation, { kind: "setRetention" }>,
  { tableId, as }: { readonly tableId: string; readonly as: CallOptions },
): Promise<Answer> {
  const { rule } = operation;
  const midnight = midnightOf(operation);
  const asked =
    rule.kind === "days"
      ? { case: "days" as const, value: rule.days }
      : rule.kind === "on"
        ? { case: "on" as const, value: new Date(midnight).toISOString().slice(0, 10) }
        : { case: "never" as const, value: true };
  const set = await policy.setTableRetention({ tableId, rule: { rule: asked } }, as);
  return {
    midnight,
    retention: {
      shortened: set.shortened,
      lastActivityAt: ms(set.lastActivityAt),
      expiresAt: set.expiresAt ? ms(set.expiresAt) : null,
    },
  };
}

const MINUTE_MS = 60_000;

/** Publishes a use as another system would, so often. */
async function report(
  { nats }: Stack,
  { tenant, environment }: Subject,
  { use, time, form, times }: Extract<Operation, { kind: "use" }>,
  aim: Aim | undefined,
): Promise<Answer> {
  const now = Date.now();
  const occurredAt =
    time.kind === "unsaid"
      ? undefined
      : time.kind === "ago"
        ? now - time.days * DAY_MS
        : now + time.minutes * MINUTE_MS;
  const table =
    aim?.by === "name" ? { tenant, environment, name: `${aim.namespace}.${aim.name}` } : undefined;
  const body = encoded(form, {
    ...(table ? { table } : { tableId: idIn(aim) }),
    ...(occurredAt !== undefined && { occurredAt: new Date(occurredAt) }),
  });
  for (let nth = 0; nth < times; nth++) {
    await nats.publish(`activity.table.${use}`, body, { "ce-source": "model" }, { msgId: newId() });
  }
  return { ...(occurredAt !== undefined && { occurredAt }) };
}

interface Use {
  readonly tableId?: string;
  readonly table?: Omit<NonNullable<TableActivity["table"]>, "$typeName">;
  readonly occurredAt?: Date;
}

function encoded(form: "json" | "protobuf" | "batch", use: Use): Uint8Array {
  if (form === "json") return Buffer.from(JSON.stringify(use));
  const { occurredAt, ...what } = use;
  const message = { ...what, ...(occurredAt && { occurredAt: timestampFromDate(occurredAt) }) };
  return form === "protobuf"
    ? toBinary(TableActivitySchema, create(TableActivitySchema, message))
    : toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events: [message] }));
}
