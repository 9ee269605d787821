import type { Delivery } from "@lapse/kit";
import {
  EnvironmentChangedSchema,
  EnvironmentCreatedSchema,
  EnvironmentDeletedSchema,
  type EnvironmentSnapshot as EnvironmentMessage,
  TableChange,
  TableChangedSchema,
  TableCreatedSchema,
  TableDroppedSchema,
  TableKeptSchema,
  TableKind,
  type TableSnapshot as TableMessage,
  TablePurgedSchema,
  TableRestoredSchema,
  TableState,
} from "@lapse/proto/events";
import type { CatalogChange } from "../app/fold-catalog.ts";
import type { Activity, ActivityKind } from "../domain/activity.ts";
import type { EnvironmentSnapshot, TableSnapshot } from "../domain/changes.ts";
import { keptOutcome, type SweepAnswer } from "../domain/sweep-answer.ts";
import {
  idField,
  messageField,
  optionalTimeField,
  textField,
  timeField,
  unusable,
  versionField,
} from "./event-fields.ts";

/**
 * Reads a message of `catalog.>`; null for what is of no concern here.
 *
 * @throws invalid `EVENT_UNREADABLE`, `EVENT_UNUSABLE`
 */
export function readCatalogMessage(delivery: Delivery): CatalogChange | null {
  switch (delivery.subject) {
    case "catalog.table.created":
      return changed(delivery.decode(TableCreatedSchema).table, "created");
    case "catalog.table.changed": {
      const { table, change } = delivery.decode(TableChangedSchema);
      return changed(table, activityOf(change));
    }
    case "catalog.table.restored":
      return changed(delivery.decode(TableRestoredSchema).table, "restored");
    case "catalog.table.dropped": {
      const { table, sweepId } = delivery.decode(TableDroppedSchema);
      const message = changed(table, null);
      return sweepId === "" ? message : { ...message, answer: dropped(message.table, sweepId) };
    }
    case "catalog.table.purged":
      return changed(delivery.decode(TablePurgedSchema).table, null);
    case "catalog.table.kept":
      return { answer: kept(delivery) };
    case "catalog.environment.created":
      return environment(delivery.decode(EnvironmentCreatedSchema).environment);
    case "catalog.environment.changed":
      return environment(delivery.decode(EnvironmentChangedSchema).environment);
    case "catalog.environment.deleted":
      return environment(delivery.decode(EnvironmentDeletedSchema).environment, true);
    default:
      return null;
  }
}

/** Null: this change is no activity, so what it says of the last one is of a kind not known here. */
function activityOf(change: TableChange): ActivityKind | null {
  switch (change) {
    case TableChange.WRITTEN:
      return "written";
    case TableChange.MAINTAINED:
      return "maintained";
    case TableChange.DESCRIBED:
    case TableChange.RENAMED:
    case TableChange.TOUCHED:
      return "changed";
    case TableChange.STATE:
    // A deployment is no use of the table (T20).
    case TableChange.ASSET:
      return null;
    case TableChange.UNSPECIFIED:
      throw unusable("change is not specified");
    default:
      // A change that a newer catalog knows: its last_changed_at tells whether it counts.
      return "changed";
  }
}

function changed(
  message: TableMessage | undefined,
  kind: ActivityKind | null,
): CatalogChange & { readonly table: TableSnapshot } {
  const table = tableSnapshot(messageField(message, "table"));
  const { tableId, createdAt, lastChangedAt, restoredAt } = table;
  const activities: Activity[] = [
    { tableId, kind: "created", at: createdAt.getTime() },
    // At the same instant `changed` yields to any other kind, so a change seen before keeps its own.
    { tableId, kind: kind ?? "changed", at: lastChangedAt.getTime() },
  ];
  if (restoredAt !== null) {
    activities.push({ tableId, kind: "restored", at: restoredAt.getTime() });
  }
  return { table, activities };
}

function tableSnapshot(message: TableMessage): TableSnapshot {
  return {
    tableId: idField(message.tableId, "table_id"),
    tenant: textField(message.tenant, "tenant"),
    environmentId: idField(message.environmentId, "environment_id"),
    namespace: textField(message.namespace, "namespace"),
    name: textField(message.name, "name"),
    kind: kindOf(message.kind),
    state: stateOf(message.state),
    owner: textField(message.owner, "owner"),
    projectAsset: message.projectAsset,
    version: versionField(message.changeVersion, "change_version"),
    createdAt: timeField(message.createdAt, "created_at"),
    lastChangedAt: timeField(message.lastChangedAt, "last_changed_at"),
    restoredAt: optionalTimeField(message.restoredAt, "restored_at"),
  };
}

function kindOf(kind: TableKind): TableSnapshot["kind"] {
  switch (kind) {
    case TableKind.MANAGED:
      return "managed";
    case TableKind.VIEW:
      return "view";
    case TableKind.EXTERNAL:
      return "external";
    case TableKind.ARTIFACT:
      return "artifact";
    default:
      throw unusable(`kind is ${kind}`);
  }
}

function stateOf(state: TableState): TableSnapshot["state"] {
  switch (state) {
    case TableState.STAGED:
      return "staged";
    case TableState.LIVE:
      return "live";
    case TableState.DROPPED:
      return "dropped";
    case TableState.PURGING:
      return "purging";
    case TableState.PURGED:
      return "purged";
    default:
      throw unusable(`state is ${state}`);
  }
}

function environment(
  message: EnvironmentMessage | undefined,
  deleted = false,
): CatalogChange & { readonly environment: EnvironmentSnapshot } {
  const snapshot = messageField(message, "environment");
  return {
    environment: {
      environmentId: idField(snapshot.environmentId, "environment_id"),
      tenant: textField(snapshot.tenant, "tenant"),
      name: textField(snapshot.name, "name"),
      protected: snapshot.protected,
      deleted,
      version: versionField(snapshot.changeVersion, "change_version"),
    },
  };
}

function dropped({ tableId }: TableSnapshot, sweepId: string): SweepAnswer {
  return { sweepId: idField(sweepId, "sweep_id"), tableId, outcome: "dropped", reason: "" };
}

function kept(delivery: Delivery): SweepAnswer {
  const { tableId, sweepId, reason } = delivery.decode(TableKeptSchema);
  return {
    sweepId: idField(sweepId, "sweep_id"),
    tableId: idField(tableId, "table_id"),
    outcome: keptOutcome(reason),
    reason: textField(reason, "reason"),
  };
}
