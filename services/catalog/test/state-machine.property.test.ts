import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CommitOperation } from "@lapse/proto/catalog";
import fc from "fast-check";
import { answerDue } from "../src/app/answer-due.ts";
import { beginDuePurges } from "../src/app/begin-purges.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { removeEndedHolds } from "../src/app/remove-ended.ts";
import { findTable } from "../src/store/tables.ts";
import { dueNow } from "./lab/due.ts";
import { aName, DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { putFile, storedPaths } from "./lab/table-files.ts";
import { type ModelTable, TableModel } from "./lab/table-model.ts";
import {
  liveTable,
  newEnvironment,
  newPlace,
  present,
  type TablePlace,
  tableById,
  tableByName,
} from "./lab/tables.ts";

const UNDO_DAYS = 2;
const { signal } = new AbortController();

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-state-machine", UNDO_DAYS);
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

interface Real {
  readonly place: TablePlace;
}
type Step = fc.AsyncCommand<TableModel, Real>;

const ana = () => lab.asPerson("ana");

/** A step over the live table; it is not run while there is none. */
const onLive = (
  name: string,
  run: (table: ModelTable, model: TableModel, real: Real) => Promise<void>,
): Step => ({
  check: ({ live }) => live !== undefined,
  run: (model, real) => run(present(model.live), model, real),
  toString: () => name,
});

const always = (name: string, run: (model: TableModel, real: Real) => Promise<void>): Step => ({
  check: () => true,
  run,
  toString: () => name,
});

const create = always("create", async (model, { place }) => {
  const created = liveTable(lab, place);
  if (model.live) await expect(created).rejects.toMatchObject({ reason: "NAME_TAKEN" });
  else model.add((await created).tableId);
});

const commit = (operation: CommitOperation) =>
  onLive(operation === CommitOperation.APPEND ? "append" : "replace", async (table) => {
    const { table: real } = await ana().getTable(tableById(table.id));
    const file = await putFile(lab.store, real);
    await ana().commitTable({ ...tableById(table.id), operation, files: [file] });
    if (operation === CommitOperation.REPLACE) table.files.clear();
    table.files.add(file.path);
    table.changeVersion += 1n;
  });

const touch = onLive("touch", async (table) => {
  await ana().touchTable(tableById(table.id));
  table.changeVersion += 1n;
  table.retentionVersion = table.changeVersion;
});

const renameAwayAndBack = async (table: ModelTable, name: string) => {
  for (const next of [aName(), name]) {
    await ana().updateTable({ ...tableById(table.id), name: next });
    table.changeVersion += 1n;
  }
};

const rename = onLive("rename", async (table, _, { place }) => {
  await renameAwayAndBack(table, place.name);
});

const dueMeetsRename = onLive("due before a rename", async (table, _, { place }) => {
  const { table: real } = await ana().getTable(tableById(table.id));
  const event = await dueNow(lab, present(real));
  await renameAwayAndBack(table, place.name);
  await answerDue(lab.deps, [event]);
});

/** A project of its own for each name, in one version. */
const deployment = ({ place }: Real) => ({
  environment: { ref: { case: "name", value: environment } } as const,
  project: place.name,
});

const deploy = always("deploy", async (model, real) => {
  const assets = [`${real.place.namespace}.${real.place.name}`];
  await ana().deployProject({ ...deployment(real), version: "1", assets });
  if (!model.isDeployed && model.live) model.live.changeVersion += 1n;
  model.isDeployed = true;
});

const undeploy = always("undeploy", async (model, real) => {
  if (!model.isDeployed) return;
  await ana().undeployProject(deployment(real));
  if (model.live) model.live.changeVersion += 1n;
  model.isDeployed = false;
});

const hold = onLive("hold", async (table, model) => {
  await ana().createHold(tableById(table.id));
  table.heldUntil = model.today + lab.deps.holdTtlMs / DAY_MS;
});

const drop = onLive("drop", async (table, model) => {
  const dropped = ana().dropTable(tableById(table.id));
  if (model.isHeld(table)) await expect(dropped).rejects.toMatchObject({ reason: "TABLE_HELD" });
  else {
    await dropped;
    model.drop(table, UNDO_DAYS);
  }
});

/** With `fresh`, on what the catalog says now; without, on the version before. */
const due = (fresh: boolean) =>
  onLive(fresh ? "due" : "outdated due", async (table, model) => {
    const { table: real } = await ana().getTable(tableById(table.id));
    const event = await dueNow(lab, present(real));
    const changeVersion = event.due.changeVersion - (fresh ? 0n : 1n);
    await answerDue(lab.deps, [{ due: { ...event.due, changeVersion } }]);
    if (fresh && !model.isHeld(table) && !model.isDeployed) model.drop(table, UNDO_DAYS);
  });

const undrop = (generation: number) =>
  always(`undrop ${generation}`, async (model, { place }) => {
    const dropped = model.tables.filter(({ state }) => state !== "live");
    const table = dropped.at(-1 - generation);
    if (!table) return;
    const refusal = model.undropRefusal(table);
    const byName = table === model.lastDropped;
    const undropped = ana().undropTable(byName ? tableByName(place) : tableById(table.id));
    if (refusal) await expect(undropped).rejects.toMatchObject({ reason: refusal });
    else {
      await undropped;
      table.state = "live";
      table.changeVersion += 1n;
      table.retentionVersion = table.changeVersion;
    }
  });

const aDayPasses = always("a day passes", async (model) => {
  await lab.timePasses(DAY_MS);
  model.today += 1;
});

const jobs = always("jobs", async (model) => {
  await beginDuePurges(lab.deps, signal);
  await removeEndedHolds(lab.deps, signal);
  for (const table of model.tables) {
    if (table.state !== "dropped" || model.today < table.undoUntil) continue;
    table.state = "purging";
    table.changeVersion += 1n;
  }
});

const purge = always("purge", async (model) => {
  while (await purgeNextTable(lab.deps, { signal }));
  for (const table of model.tables) {
    if (table.state !== "purging") continue;
    table.state = "purged";
    table.changeVersion += 1n;
  }
});

async function compare(model: TableModel): Promise<void> {
  for (const expected of model.tables) {
    const { table } = present(await findTable(lab.deps.pool, expected.id));
    expect({
      state: table.state,
      changeVersion: table.changeVersion,
      retentionVersion: table.retentionVersion,
      isDropped: table.drop !== null,
      projectAsset: table.projectAsset,
    }).toEqual({
      state: expected.state,
      changeVersion: expected.changeVersion,
      retentionVersion: expected.retentionVersion,
      isDropped: expected.state !== "live",
      projectAsset: expected.state === "live" && model.isDeployed,
    });
    const stored = await storedPaths(lab.store, present(table.location ?? undefined));
    if (expected.state === "purged") expect(stored).toEqual([]);
    else for (const path of expected.files) expect(stored).toContain(path);
    if (expected.state !== "live") continue;
    const { files } = await ana().listTableFiles(tableById(expected.id));
    expect(files.map(({ path }) => path).sort()).toEqual([...expected.files].sort());
  }
}

/** The same step, with everything compared after it. */
const compared = (step: Step): Step => ({
  check: (model) => step.check(model),
  async run(model, real) {
    await step.run(model, real);
    await compare(model);
  },
  toString: () => step.toString(),
});

describe("the life of a table", () => {
  test("T20, T28, T30 whatever happens in whatever order, its state, versions and files are those of the model", async () => {
    const steps = [
      create,
      commit(CommitOperation.APPEND),
      commit(CommitOperation.REPLACE),
      touch,
      rename,
      dueMeetsRename,
      deploy,
      undeploy,
      hold,
      drop,
      due(true),
      due(false),
      undrop(0),
      undrop(1),
      aDayPasses,
      jobs,
      purge,
    ].map((step) => fc.constant(compared(step)));
    await fc.assert(
      fc.asyncProperty(fc.commands(steps, { maxCommands: 40, size: "max" }), async (commands) => {
        const setup = async () => ({
          model: new TableModel(),
          real: { place: newPlace(environment) },
        });
        await fc.asyncModelRun(setup, commands);
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
