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
import { type NamedTable, resolveTables } from "./resolve-tables.ts";

/** A use of a table as a caller reports it. */
export type ReportedUse = Omit<TableUse, "tableId"> & NamedTable;

interface Publishing {
  readonly broker: Pick<Broker, "publishActivity">;
  readonly now: () => Date;
}

const PUBLISHES_AT_ONCE = 8;

/**
 * Puts the uses on the stream of activity and returns once all are stored there (T14).
 *
 * @throws notFound, denied for any of the uses: nothing is published.
 * @throws unavailable when one could not be stored. Others may have been; reporting all again is harmless,
 *   and with the same idempotency key nothing is counted twice.
 */
export async function reportActivity(
  deps: Pick<Peers, "catalog"> & Publishing,
  call: Call,
  uses: readonly ReportedUse[],
): Promise<void> {
  const tables = await resolveTables(deps, call, uses);
  requireRights(call, uses, tables);
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
function requireRights(call: Call, uses: readonly ReportedUse[], tables: readonly Table[]): void {
  const violations: FieldViolation[] = [];
  for (const [index, { kind, pointer }] of uses.entries()) {
    const owner = tables[index]?.owner;
    if (kind === "read" || hasRight(call.principal, "table.write", { owner })) continue;
    violations.push({ field: pointer, description: `${kind} needs the right table.write` });
  }
  if (violations.length === 0) return;
  const { subject } = call.principal;
  call.log.info({ subject, right: "table.write", uses: violations.length }, "activity refused");
  const message = `${subject} lacks the right table.write on some of these tables; nothing was reported`;
  throw denied("RIGHT_MISSING", message, { violations });
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
