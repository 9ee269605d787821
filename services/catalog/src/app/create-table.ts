import { alreadyExists, appendEvent, newId } from "@lapse/kit";
import { tableLocation } from "../domain/location.ts";
import {
  type Column,
  NO_CONTENTS,
  qualifiedName,
  type Table,
  type TableKind,
} from "../domain/table.ts";
import { tableCreated } from "../events/table-events.ts";
import { findLiveTable, insertTable } from "../store/tables.ts";
import { type Call, change } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { type TableWithRights, withRightsOn } from "./effective-rights.ts";
import { requireEnvironmentNames } from "./find-names.ts";
import { placeTable } from "./place-table.ts";
import { recordTableCreated } from "./table-decisions.ts";

export interface NewTable {
  readonly environment: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly columns: readonly Column[];
  readonly description: string;
  /** Managed tables only: nobody sees it until its first commit. */
  readonly staged: boolean;
}

/**
 * Creates a table that its creator owns, staged or live and empty. A staged one does not reserve its name.
 *
 * @throws already_exists `NAME_TAKEN` by a live table.
 */
export const createTable = <A>(
  deps: CatalogDeps,
  call: Call<TableWithRights, A>,
  input: NewTable,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const about = {
      kind: "table",
      id: "",
      name: qualifiedName(input),
      environment: input.environment,
    } as const;
    const environment = await requireEnvironmentNames(
      tx,
      principal,
      { kind: "name", name: input.environment },
      "table.create",
      "share",
      { about },
    );
    const tableId = newId();
    const unplaced: Table = {
      tableId,
      tenant: environment.tenant,
      environmentId: environment.environmentId,
      namespace: input.namespace,
      name: input.name,
      kind: input.kind,
      state: input.staged ? "staged" : "live",
      owner: principal.subject,
      description: input.description,
      columns: input.columns,
      location: input.kind === "managed" ? tableLocation(environment, tableId) : null,
      changeVersion: 1n,
      retentionVersion: 0n,
      projectAsset: false,
      assetOf: "",
      contents: NO_CONTENTS,
      createdAt: now,
      lastChangedAt: now,
      restoredAt: null,
      drop: null,
      purgedAt: null,
    };
    const table = await placeTable(tx, unplaced, { actor: principal.subject, now });
    // Nothing is reserved: said now because a writer should not learn it after hours of work.
    const taken = input.staged && (await findLiveTable(tx, table)) !== undefined;
    if (taken || !(await insertTable(tx, table))) throw nameTaken(table);
    const created = { table, environment };
    if (!input.staged) {
      await appendEvent(tx, tableCreated(created, { actor: principal.subject, traceparent }));
      await recordTableCreated(tx, now, created, call);
    }
    return withRightsOn(tx, principal, created);
  });

const nameTaken = (table: Table) =>
  alreadyExists(
    "NAME_TAKEN",
    `there is a table ${qualifiedName(table)} already; choose another name, or write into that one`,
  );
