import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CommitOperation } from "@lapse/proto/catalog";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { aName, DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { putFile } from "./lab/table-files.ts";
import { filledTable, newEnvironment, newPlace, stagedTable, tableById } from "./lab/tables.ts";

const { signal } = new AbortController();

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-life-of-a-table", 1);
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const purge = async () => {
  await lab.timePasses(DAY_MS);
  await beginDuePurges(lab.deps, signal);
  while (await purgeNextTable(lab.deps, { signal }));
};

describe("the life of a table", () => {
  test("T13 is told event by event, the undrop included, with every version once and the state after each", async () => {
    const { tableId, ...staged } = await stagedTable(lab, newPlace(environment));
    const ana = lab.asPerson("ana");
    const ref = tableById(tableId);
    const files = [await putFile(lab.store, staged)];
    await ana.commitTable({ ...ref, operation: CommitOperation.APPEND, files });
    await ana.updateTable({ ...ref, description: "x" });
    await ana.updateTable({ ...ref, name: aName() });
    await ana.touchTable(ref);
    await ana.commitTable({ ...ref, operation: CommitOperation.MAINTAIN, files });
    await ana.dropTable(ref);
    await ana.undropTable(ref);
    await ana.dropTable(ref);
    await purge();
    const told = (await lab.events(tableId)).map(({ subject, message }) => {
      const table = message.table as { changeVersion: string; state: string };
      const state = table.state.replace("TABLE_STATE_", "").toLowerCase();
      return `${table.changeVersion} ${subject.replace("catalog.table.", "")} ${state}`;
    });
    // Nobody sees a staged table, so its first version is not told.
    expect(told).toEqual([
      "2 created live",
      "3 changed live",
      "4 changed live",
      "5 changed live",
      "6 changed live",
      "7 dropped dropped",
      "8 restored live",
      "9 dropped dropped",
      "10 changed purging",
      "11 purged purged",
    ]);
  });

  test("leaves nothing to the next table of its name, not even what a late writer put under its location", async () => {
    const place = newPlace(environment);
    const first = await filledTable(lab, place);
    await lab.asPerson("ana").dropTable(tableById(first.tableId));
    await purge();
    await putFile(lab.store, first, { path: "data/late.parquet" });
    const second = await filledTable(lab, place);
    expect(second.keyPrefix.startsWith(first.keyPrefix)).toBe(false);
    const { files } = await lab.asPerson("ana").listTableFiles(tableById(second.tableId));
    expect(files).toHaveLength(1);
    expect(files[0]?.path).not.toBe("data/late.parquet");
    // Nor can it be made to take the old one's file for its own.
    await expect(
      lab.asPerson("ana").commitTable({
        ...tableById(second.tableId),
        operation: CommitOperation.APPEND,
        files: [{ path: "data/late.parquet", byteSize: 25n, rowCount: 1n }],
      }),
    ).rejects.toMatchObject({ reason: "FILES_MISSING" });
  });
});
