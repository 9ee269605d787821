import { describe, expect, test } from "@jest/globals";
import { aDrop, aTable, NOW } from "../../test/builders.ts";
import { type CommitInput, decideCommit } from "./commit.ts";
import { NO_CONTENTS } from "./table.ts";

const file = (path: string, rowCount = 5n, byteSize = 50n) => ({ path, rowCount, byteSize });
const known = (path: string, rowCount = 10n, byteSize = 100n, removed = false) => ({
  ...file(path, rowCount, byteSize),
  removed,
});

const input = (patch: Partial<CommitInput> = {}): CommitInput => ({
  table: aTable(),
  operation: "append",
  files: [file("new")],
  known: [],
  expectedChangeVersion: undefined,
  columns: undefined,
  snapshotId: "s2",
  now: NOW,
  ...patch,
});

const contentsAfter = (patch: Partial<CommitInput>) => {
  const decided = decideCommit(input(patch));
  return decided.ok ? decided.value.table.contents : decided.refusal;
};

const reasonOf = (patch: Partial<CommitInput>) => {
  const decided = decideCommit(input(patch));
  return decided.ok ? undefined : decided.refusal.reason;
};

describe("decideCommit", () => {
  test("T13 is activity and moves the change version alone", () => {
    const decided = decideCommit(input());
    expect(decided).toMatchObject({
      value: {
        table: { changeVersion: 8n, retentionVersion: 5n, lastChangedAt: NOW, state: "live" },
        first: false,
      },
    });
  });

  test("append adds to what is there", () => {
    expect(contentsAfter({})).toEqual({
      snapshotId: "s2",
      snapshotSequence: 2n,
      rowCount: 15n,
      byteSize: 150n,
      fileCount: 2,
    });
  });

  test("append without files is a write that found no rows", () => {
    expect(contentsAfter({ files: [] })).toMatchObject({ rowCount: 10n, fileCount: 1 });
  });

  test("replace leaves only its own files, and keeps those it names again", () => {
    expect(contentsAfter({ operation: "replace" })).toMatchObject({ rowCount: 5n, fileCount: 1 });
    const again = decideCommit(
      input({
        operation: "replace",
        files: [file("old", 10n, 100n), file("new")],
        known: [known("old")],
      }),
    );
    expect(again).toMatchObject({
      value: {
        added: [file("new")],
        kept: ["old"],
        table: { contents: { rowCount: 15n, fileCount: 2 } },
      },
    });
    expect(contentsAfter({ operation: "replace", files: [] })).toMatchObject({
      rowCount: 0n,
      fileCount: 0,
    });
  });

  test("maintain must end with the rows it began with", () => {
    expect(contentsAfter({ operation: "maintain", files: [file("new", 10n)] })).toMatchObject({
      rowCount: 10n,
    });
    expect(reasonOf({ operation: "maintain", files: [file("new", 9n)] })).toBe("ROWS_DIFFER");
    expect(reasonOf({ operation: "maintain", files: [] })).toBe("ROWS_DIFFER");
  });

  test("the first commit of a staged table makes it live", () => {
    const staged = aTable({ state: "staged", contents: NO_CONTENTS });
    for (const files of [[file("new")], []]) {
      expect(decideCommit(input({ table: staged, files }))).toMatchObject({
        value: { first: true, table: { state: "live", contents: { snapshotSequence: 1n } } },
      });
    }
    expect(reasonOf({ table: staged, operation: "maintain" })).toBe("TABLE_STAGED");
  });

  test("columns change only when given", () => {
    const columns = [{ name: "x", type: "DATE", required: false }];
    expect(decideCommit(input({ columns }))).toMatchObject({ value: { table: { columns } } });
    expect(decideCommit(input())).toMatchObject({
      value: { table: { columns: aTable().columns } },
    });
  });

  test.each([
    ["another version than expected", { expectedChangeVersion: 6n }, "TABLE_CHANGED"],
    ["a view", { table: aTable({ kind: "view", location: null }) }, "NOT_MANAGED"],
    ["a dropped table", { table: aTable({ state: "dropped", drop: aDrop() }) }, "TABLE_DROPPED"],
    ["a table being purged", { table: aTable({ state: "purging" }) }, "TABLE_PURGING"],
    ["a purged table", { table: aTable({ state: "purged" }) }, "TABLE_NOT_FOUND"],
    ["a file that is there already", { known: [known("new")] }, "FILE_ALREADY_COMMITTED"],
    [
      "a file that was taken out before",
      { known: [known("new", 5n, 50n, true)] },
      "FILE_PATH_USED",
    ],
    [
      "the removed file in a replace",
      { operation: "replace", known: [known("new", 5n, 50n, true)] },
      "FILE_PATH_USED",
    ],
    [
      "a file kept with other rows",
      { operation: "replace", known: [known("new", 6n, 50n)] },
      "FILE_DIFFERS",
    ],
    [
      "a file kept with other bytes",
      { operation: "replace", known: [known("new", 5n, 51n)] },
      "FILE_DIFFERS",
    ],
    [
      "more files than a list of them can hold",
      { table: aTable({ contents: { ...NO_CONTENTS, fileCount: 10_000 } }) },
      "TOO_MANY_FILES",
    ],
    [
      "more rows than can be stored",
      { table: aTable({ contents: { ...NO_CONTENTS, rowCount: 2n ** 63n - 1n } }) },
      "TABLE_TOO_LARGE",
    ],
  ] as [string, Partial<CommitInput>, string][])("refuses %s", (_, patch, reason) => {
    expect(reasonOf(patch)).toBe(reason);
  });

  test("takes the version it was told to expect", () => {
    expect(reasonOf({ expectedChangeVersion: 7n })).toBeUndefined();
  });
});
