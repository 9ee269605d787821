import type { DataFile } from "./data-file.ts";
import { accept, type Decided, refuse } from "./refusal.ts";
import { type Column, type Contents, qualifiedName, type Table } from "./table.ts";
import { activeChange, requirePresent } from "./table-changes.ts";

/** `append` adds files; `replace` and `maintain` put theirs in place of all others, `maintain` without changing data. */
export type CommitOperation = "append" | "replace" | "maintain";

/** A file the catalog knows already under a path of the commit. */
export interface KnownFile extends DataFile {
  /** A former commit took it out of the table. */
  readonly removed: boolean;
}

export interface CommitInput {
  readonly table: Table;
  readonly operation: CommitOperation;
  readonly files: readonly DataFile[];
  /** What is stored under the paths of `files`, and no more. */
  readonly known: readonly KnownFile[];
  readonly expectedChangeVersion: bigint | undefined;
  /** The columns after the commit; undefined: unchanged. */
  readonly columns: readonly Column[] | undefined;
  readonly snapshotId: string;
  readonly now: Date;
}

export interface Commit {
  readonly table: Table;
  /** Files that are new to the table. */
  readonly added: readonly DataFile[];
  /** Current files that stay; undefined: all of them. */
  readonly kept: readonly string[] | undefined;
  /** It was staged: with this commit it becomes visible. */
  readonly first: boolean;
}

/** Whether a table takes a commit, and what it is afterwards. */
export function decideCommit(input: CommitInput): Decided<Commit> {
  const { table, operation, files, now, columns } = input;
  const refusal = stateRefusal(input) ?? fileRefusal(input);
  if (refusal) return refusal;

  const knownPaths = new Set(input.known.map(({ path }) => path));
  const added = files.filter(({ path }) => !knownPaths.has(path));
  const base =
    operation === "append" ? table.contents : { rowCount: 0n, byteSize: 0n, fileCount: 0 };
  const listed = operation === "append" ? added : files;
  const contents: Contents = {
    snapshotId: input.snapshotId,
    snapshotSequence: table.contents.snapshotSequence + 1n,
    rowCount: base.rowCount + sum(listed, "rowCount"),
    byteSize: base.byteSize + sum(listed, "byteSize"),
    fileCount: base.fileCount + listed.length,
  };
  if (contents.fileCount > MAX_FILES) {
    return refuse(
      "precondition",
      "TOO_MANY_FILES",
      `table ${qualifiedName(table)} would have ${contents.fileCount} files and may have ${MAX_FILES}; put them together with a maintenance commit first`,
    );
  }
  if (contents.rowCount > MAX_TOTAL || contents.byteSize > MAX_TOTAL) {
    return refuse(
      "invalid",
      "TABLE_TOO_LARGE",
      "the counts of the table's files add up to more than can be stored",
    );
  }
  return accept({
    table: activeChange(table, now, { state: "live", contents, ...(columns ? { columns } : {}) }),
    added,
    kept: operation === "append" ? undefined : [...knownPaths],
    first: table.state === "staged",
  });
}

const MAX_TOTAL = 2n ** 63n - 1n;
/** The list of a table's files is one message. */
const MAX_FILES = 10_000;

function stateRefusal({ table, operation, expectedChangeVersion }: CommitInput) {
  const present = requirePresent(table);
  if (!present.ok) return present;
  const name = qualifiedName(table);
  if (table.kind !== "managed") {
    return refuse(
      "precondition",
      "NOT_MANAGED",
      `${name} is of kind ${table.kind}; only managed tables have files to commit`,
    );
  }
  if (expectedChangeVersion !== undefined && expectedChangeVersion !== table.changeVersion) {
    return refuse(
      "conflict",
      "TABLE_CHANGED",
      `table ${name} is at version ${table.changeVersion}, not ${expectedChangeVersion}; read it again and redo the write`,
      { details: { change_version: String(table.changeVersion) } },
    );
  }
  if (operation === "maintain" && table.state === "staged") {
    return refuse(
      "precondition",
      "TABLE_STAGED",
      `table ${name} has no data to maintain yet; its first commit is an append or a replace`,
    );
  }
  return undefined;
}

function fileRefusal({ table, operation, files, known }: CommitInput) {
  const given = new Map(files.map((file) => [file.path, file]));
  for (const file of known) {
    if (file.removed) {
      return refuse(
        "precondition",
        "FILE_PATH_USED",
        `${file.path} was a file of this table before; write the new file under a new path`,
      );
    }
    if (operation === "append") {
      return refuse(
        "precondition",
        "FILE_ALREADY_COMMITTED",
        `${file.path} is a file of this table already; was this commit done before?`,
      );
    }
    const again = given.get(file.path);
    if (again?.byteSize !== file.byteSize || again.rowCount !== file.rowCount) {
      return refuse(
        "invalid",
        "FILE_DIFFERS",
        `${file.path} is in the table with ${file.byteSize} bytes and ${file.rowCount} rows; state the same or write a new file`,
      );
    }
  }
  const rows = sum(files, "rowCount");
  if (operation === "maintain" && rows !== table.contents.rowCount) {
    return refuse(
      "precondition",
      "ROWS_DIFFER",
      `maintenance changes no data, but the files have ${rows} rows and the table ${table.contents.rowCount}; list all its files after the maintenance`,
    );
  }
  return undefined;
}

const sum = (files: readonly DataFile[], field: "rowCount" | "byteSize"): bigint =>
  files.reduce((total, file) => total + file[field], 0n);
