import { type Hold, isActive } from "./hold.ts";
import { accept, type Decided, refuse } from "./refusal.ts";
import { qualifiedName, type Table } from "./table.ts";
import { quietChange, requirePresent } from "./table-changes.ts";
import { type UndoSettings, undoUntil } from "./undo-period.ts";

/** Drops for an expiry that {@link decideDue} allowed. */
export const dropExpired = (table: Table, now: Date, undo: UndoSettings): Table =>
  dropped(table, now, "retention", null, undo);

export interface DropRequest {
  readonly table: Table;
  /** The holds on it, read after its row was locked. */
  readonly holds: readonly Hold[];
  readonly actor: string;
  readonly now: Date;
  readonly undo: UndoSettings;
}

/**
 * Drops because somebody asked. A running write refuses it too (T21): its holder would find the table gone under its
 * hands; whoever may drop may also release the hold. A staged table has no users, so it goes straight to its purge.
 */
export function dropByRequest({ table, holds, actor, now, undo }: DropRequest): Decided<Table> {
  const present = requirePresent(table);
  if (!present.ok) return present;
  const hold = holds.find((hold) => isActive(hold, now));
  if (hold) {
    return refuse(
      "precondition",
      "TABLE_HELD",
      `${hold.holder} is working on ${qualifiedName(table)} (${hold.kind} hold ${hold.holdId}, until ${hold.expiresAt.toISOString()}); wait for it, or release the hold`,
      { details: { hold_id: hold.holdId } },
    );
  }
  return accept(
    table.state === "staged"
      ? quietChange(table, { state: "purging" })
      : dropped(table, now, "request", actor, undo),
  );
}

const dropped = (
  table: Table,
  at: Date,
  reason: "retention" | "request",
  by: string | null,
  undo: UndoSettings,
): Table =>
  quietChange(table, {
    state: "dropped",
    projectAsset: false,
    assetOf: "",
    drop: { at, by, reason, undoUntil: undoUntil(at, reason, undo) },
  });
