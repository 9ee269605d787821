import { newId } from "@lapse/kit";
import type { CatalogChange } from "../../src/app/fold-catalog.ts";
import type { EnvironmentSnapshot, TableSnapshot } from "../../src/domain/changes.ts";

/** A table as the catalog may say it is. */
export function someTable(table: Partial<TableSnapshot> = {}): TableSnapshot {
  const createdAt = table.createdAt ?? new Date("2026-01-01T00:00:00Z");
  return {
    tableId: newId(),
    tenant: "local",
    environmentId: newId(),
    namespace: "bronze",
    name: "trial",
    kind: "managed",
    state: "live",
    owner: "ana@example.org",
    projectAsset: false,
    version: 1n,
    createdAt,
    lastChangedAt: createdAt,
    restoredAt: null,
    ...table,
  };
}

/** An environment as the catalog may say it is. */
export const someEnvironment = (
  environment: Partial<EnvironmentSnapshot> = {},
): EnvironmentSnapshot => ({
  environmentId: newId(),
  tenant: "local",
  name: "dev",
  protected: false,
  deleted: false,
  version: 1n,
  ...environment,
});

/** What the event of such a table says. */
export function tableChange(table: TableSnapshot): CatalogChange {
  const { tableId, createdAt, lastChangedAt, restoredAt } = table;
  return {
    table,
    activities: [
      { tableId, kind: "created", at: createdAt.getTime() },
      { tableId, kind: "changed", at: lastChangedAt.getTime() },
      ...(restoredAt === null
        ? []
        : [{ tableId, kind: "restored" as const, at: restoredAt.getTime() }]),
    ],
  };
}
