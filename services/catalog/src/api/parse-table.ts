import {
  type CommitTableRequest,
  type CreateTableRequest,
  CommitOperation as Operation,
} from "@lapse/proto/catalog";
import { TableKind as Kind } from "@lapse/proto/events";
import type { CommitRequest } from "../app/commit-table.ts";
import type { NewTable } from "../app/create-table.ts";
import { columnFaults } from "../domain/columns.ts";
import type { CommitOperation } from "../domain/commit.ts";
import { dataFileFaults } from "../domain/data-file.ts";
import type { Column, TableKind } from "../domain/table.ts";
import { type Faults, note, parseId, parseQualifiedName, parseTableRef } from "./parse.ts";

const MAX_DESCRIPTION_BYTES = 4_096;

const KINDS: Readonly<Partial<Record<Kind, TableKind>>> = {
  [Kind.UNSPECIFIED]: "managed",
  [Kind.MANAGED]: "managed",
  [Kind.VIEW]: "view",
  [Kind.EXTERNAL]: "external",
  [Kind.ARTIFACT]: "artifact",
};

const OPERATIONS: Readonly<Partial<Record<Operation, CommitOperation>>> = {
  [Operation.APPEND]: "append",
  [Operation.REPLACE]: "replace",
  [Operation.MAINTAIN]: "maintain",
};

export function parseNewTable(faults: Faults, request: CreateTableRequest): NewTable {
  const kind = KINDS[request.kind];
  if (!kind) note(faults, "/kind", "managed, view, external or artifact");
  if (request.staged && kind !== "managed") {
    note(faults, "/staged", "only a managed table is staged: the others have no first commit");
  }
  return {
    ...parseQualifiedName(faults, "/name", request.name),
    kind: kind ?? "managed",
    columns: parseColumns(faults, request.columns),
    description: parseDescription(faults, request.description),
    staged: request.staged,
  };
}

export function parseDescription(faults: Faults, description: string): string {
  if (Buffer.byteLength(description) > MAX_DESCRIPTION_BYTES) {
    note(faults, "/description", `at most ${MAX_DESCRIPTION_BYTES} bytes in UTF-8`);
  }
  if (description.includes("\0")) note(faults, "/description", "no NUL characters");
  return description;
}

export function parseCommit(faults: Faults, request: CommitTableRequest): CommitRequest {
  const operation = OPERATIONS[request.operation];
  if (!operation) note(faults, "/operation", "append, replace or maintain");
  if (operation === "maintain" && request.columns.length > 0) {
    note(faults, "/columns", "maintenance changes no data, so it gives no columns");
  }
  const columns = parseColumns(faults, request.columns);
  const files = request.files.map(({ path, byteSize, rowCount }) => ({ path, byteSize, rowCount }));
  faults.push(...dataFileFaults(files));
  return {
    table: parseTableRef(faults, request.table),
    operation: operation ?? "append",
    files,
    expectedChangeVersion: request.expectedChangeVersion,
    columns: columns.length > 0 ? columns : undefined,
    holdId: request.holdId === "" ? undefined : parseId(faults, "/hold_id", request.holdId),
  };
}

function parseColumns(faults: Faults, given: readonly Column[]): Column[] {
  const columns = given.map(({ name, type, required }) => ({ name, type, required }));
  faults.push(...columnFaults(columns));
  return columns;
}
