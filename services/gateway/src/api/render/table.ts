import type { Table } from "@lapse/proto/catalog";
import { TableKind, TableState } from "@lapse/proto/events";
import type { TableView } from "../../app/table-expiry.ts";
import type { TableJson } from "../schemas/table.ts";
import { count, instant, instantOrNull, oneOf, textOrNull, word } from "./values.ts";

const KINDS = {
  [TableKind.MANAGED]: "managed",
  [TableKind.VIEW]: "view",
  [TableKind.EXTERNAL]: "external",
  [TableKind.ARTIFACT]: "artifact",
} as const;

const STATES = {
  [TableState.STAGED]: "staged",
  [TableState.LIVE]: "live",
  [TableState.DROPPED]: "dropped",
  [TableState.PURGING]: "purging",
  [TableState.PURGED]: "purged",
} as const;

export function renderTable({ table, expiry }: TableView): TableJson {
  const known = typeof expiry === "string" ? undefined : expiry;
  return {
    id: table.tableId,
    environment: table.environment,
    namespace: table.namespace,
    name: table.name,
    full_name: `${table.namespace}.${table.name}`,
    kind: word(KINDS, table.kind, "table.kind"),
    state: word(STATES, table.state, "table.state"),
    owner: table.owner,
    description: table.description,
    columns: table.columns.map(({ name, type, required }) => ({ name, type, required })),
    location: table.location,
    row_count: count(table.rowCount),
    byte_size: count(table.byteSize),
    file_count: table.fileCount,
    version: count(table.changeVersion),
    created_at: instant(table.createdAt, "table.created_at"),
    last_changed_at: instant(table.lastChangedAt, "table.last_changed_at"),
    restored_at: instantOrNull(table.restoredAt),
    expires_at: instantOrNull(known?.expiresAt),
    expires_soon: known?.expiresSoon ?? false,
    expiry_unknown: expiry === "unknown",
    rights: table.rights,
    asset_of: textOrNull(table.assetOf),
    ...drop(table),
  };
}

/** Only a dropped table says when and why, and until when it can come back. */
function drop(table: Table) {
  if (!table.droppedAt) return {};
  return {
    dropped_at: instant(table.droppedAt, "table.dropped_at"),
    drop_reason: oneOf(["retention", "request"], table.dropReason, "table.drop_reason"),
    undo_until: instant(table.undoUntil, "table.undo_until"),
  };
}

/** The value of `TableKind` for REST's word. */
export const TABLE_KIND = {
  managed: TableKind.MANAGED,
  view: TableKind.VIEW,
  external: TableKind.EXTERNAL,
  artifact: TableKind.ARTIFACT,
} as const satisfies Record<TableJson["kind"], TableKind>;
