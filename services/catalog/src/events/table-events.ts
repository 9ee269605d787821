import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type OutboxEvent, SUBJECTS } from "@lapse/kit";
import {
  TableChange,
  TableChangedSchema,
  TableCreatedSchema,
  TableDroppedSchema,
  TableKeptSchema,
  TablePurgedSchema,
  TableRestoredSchema,
} from "@lapse/proto/events";
import type { DueTable, KeptReason } from "../domain/due.ts";
import type { TableInEnvironment } from "../store/table-row.ts";
import { tableSnapshot } from "./table-snapshot.ts";

/** Who made a change, and of which trace it is part; a worker has no actor. */
export interface Origin {
  readonly actor?: string;
  readonly traceparent?: string | undefined;
}

const { table: subjects } = SUBJECTS.catalog;

/** The table can be seen from now on. */
export const tableCreated = (
  entry: TableInEnvironment,
  origin: Origin,
): OutboxEvent<typeof TableCreatedSchema> => ({
  ...about(entry, origin),
  subject: subjects.created,
  schema: TableCreatedSchema,
  message: { table: tableSnapshot(entry), actor: origin.actor ?? "" },
});

const CHANGES = {
  written: TableChange.WRITTEN,
  maintained: TableChange.MAINTAINED,
  described: TableChange.DESCRIBED,
  renamed: TableChange.RENAMED,
  touched: TableChange.TOUCHED,
  state: TableChange.STATE,
  asset: TableChange.ASSET,
} as const;

/** The table changed; `state` and `asset` are no activity. */
export const tableChanged = (
  entry: TableInEnvironment,
  change: keyof typeof CHANGES,
  origin: Origin,
): OutboxEvent<typeof TableChangedSchema> => ({
  ...about(entry, origin),
  subject: subjects.changed,
  schema: TableChangedSchema,
  message: { table: tableSnapshot(entry), change: CHANGES[change], actor: origin.actor ?? "" },
});

/** The table is gone for its users until it is restored or purged. */
export function tableDropped(
  entry: TableInEnvironment,
  origin: Origin & { readonly sweepId?: string },
): OutboxEvent<typeof TableDroppedSchema> {
  const { drop } = entry.table;
  if (!drop) throw new Error(`table ${entry.table.tableId} is not dropped`);
  return {
    ...about(entry, origin),
    subject: subjects.dropped,
    schema: TableDroppedSchema,
    message: {
      table: tableSnapshot(entry),
      reason: drop.reason,
      actor: origin.actor ?? "",
      sweepId: origin.sweepId ?? "",
      droppedAt: timestampFromDate(drop.at),
      undoUntil: timestampFromDate(drop.undoUntil),
    },
  };
}

/** The table is back. */
export const tableRestored = (
  entry: TableInEnvironment,
  origin: Origin,
): OutboxEvent<typeof TableRestoredSchema> => ({
  ...about(entry, origin),
  subject: subjects.restored,
  schema: TableRestoredSchema,
  message: { table: tableSnapshot(entry), actor: origin.actor ?? "" },
});

/** A due event did not lead to a drop. */
export const tableKept = (
  due: Pick<DueTable, "tableId" | "tenant" | "sweepId">,
  { reason, detail = "" }: { readonly reason: KeptReason; readonly detail?: string | undefined },
  { traceparent }: Origin,
): OutboxEvent<typeof TableKeptSchema> => ({
  stream: "CATALOG",
  subject: subjects.kept,
  schema: TableKeptSchema,
  message: { tableId: due.tableId, tenant: due.tenant, sweepId: due.sweepId, reason, detail },
  subjectKey: due.tableId,
  traceparent,
});

/** The table's files are deleted for good. */
export const tablePurged = (
  entry: TableInEnvironment,
  purgedAt: Date,
): OutboxEvent<typeof TablePurgedSchema> => ({
  ...about(entry, {}),
  subject: subjects.purged,
  schema: TablePurgedSchema,
  message: { table: tableSnapshot(entry), purgedAt: timestampFromDate(purgedAt) },
});

const about = ({ table }: TableInEnvironment, { traceparent }: Origin) => ({
  stream: "CATALOG" as const,
  subjectKey: table.tableId,
  traceparent,
});
