import {
  denied,
  encodeHeaders,
  type FieldViolation,
  hasRight,
  SUBJECTS,
  toLapseError,
  unavailable,
} from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import { ActivityBatchSchema } from "@lapse/proto/events";
import type { Broker } from "../broker.ts";
import type { Peers } from "../peers.ts";
import {
  type ActivityKind,
  type ActivityMessage,
  activityMessages,
  type TableUse,
} from "./activity-messages.ts";
import type { Call } from "./call.ts";
import { inParallel } from "./in-parallel.ts";
import { recordRefusal } from "./record-refusal.ts";
import { type NamedTable, resolveTables } from "./resolve-tables.ts";

/** A use of a table as a caller reports it. */
export type ReportedUse = Omit<TableUse, "tableId"> & NamedTable;

interface Publishing {
  readonly broker: Pick<Broker, "publishActivity">;
  readonly now: () => Date;
}

const PUBLISHES_AT_ONCE = 8;
/** Tables of one refused report that the audit log names, at most. */
const REFUSALS_RECORDED = 20;

/**
 * Puts the uses on the stream of activity and returns once all are stored there (T14).
 *
 * @throws notFound, denied for any of the uses: nothing is published.
 * @throws unavailable when one could not be stored. Others may have been; reporting all again is harmless,
 *   and with the same idempotency key nothing is counted twice.
 */
export async function reportActivity(
  deps: Pick<Peers, "catalog" | "access"> & Publishing,
  call: Call,
  uses: readonly ReportedUse[],
): Promise<void> {
  const tables = await resolveTables(deps, call, uses);
  await requireRights(deps, call, uses, tables);
  const resolved = uses.map(({ kind, occurredAt, source }, index) => ({
    kind,
    occurredAt,
    source,
    tableId: tables[index]?.tableId ?? "",
  }));
  const messages = activityMessages(resolved, call.principal, call.idempotencyKey);
  try {
    await inParallel(messages, PUBLISHES_AT_ONCE, (message) => publish(deps, call, message));
  } catch (thrown) {
    const error = toLapseError(thrown);
    if (error.kind !== "unavailable") throw error;
    throw unavailable(
      "ACTIVITY_NOT_STORED",
      "the activity could not be stored in full at the moment; report all of it again, with the same Idempotency-Key",
      { cause: error },
    );
  }
}

/** A read needs the right to read, which the catalog has checked; everything else the right to write. */
async function requireRights(
  peers: Pick<Peers, "access">,
  call: Call,
  uses: readonly ReportedUse[],
  tables: readonly Table[],
): Promise<void> {
  const violations: FieldViolation[] = [];
  const refused = new Map<string, Table>();
  for (const [index, { kind, pointer }] of uses.entries()) {
    const table = tables[index];
    if (kind === "read" || !table || hasRight(call.principal, "table.write", table)) continue;
    violations.push({ field: pointer, description: `${kind} needs the right table.write` });
    refused.set(table.tableId, table);
  }
  if (violations.length === 0) return;
  const recorded = [...refused.values()].slice(0, REFUSALS_RECORDED);
  await inParallel(recorded, PUBLISHES_AT_ONCE, (table) =>
    recordRefusal(peers, call, {
      right: "table.write",
      resourceKind: "table",
      resourceId: table.tableId,
      resourceName: `${table.namespace}.${table.name}`,
      resourceEnvironment: table.environment,
    }),
  );
  const { subject } = call.principal;
  const which = uses.length === 1 ? "this table" : "some of these tables";
  const message = `${subject} lacks the right table.write on ${which}; nothing was reported`;
  const details = { right: "table.write", subject };
  throw denied("RIGHT_MISSING", message, { details, violations });
}

const SUBJECT: Readonly<Record<ActivityKind, string>> = SUBJECTS.activity.table;

async function publish(
  { broker, now }: Publishing,
  { traceparent }: Call,
  { id, kind, body }: ActivityMessage,
): Promise<void> {
  const headers = encodeHeaders({
    id,
    type: ActivityBatchSchema.typeName,
    source: "lapse.gateway",
    time: now(),
    contentType: "application/protobuf",
    traceparent,
  });
  await broker.publishActivity({ id, subject: SUBJECT[kind], body, headers });
}
