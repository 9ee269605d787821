import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { CommitOperation, type Table } from "@lapse/proto/catalog";
import { beginDuePurges, giveUpStagedTables } from "../src/app/begin-purges.ts";
import { purgeNextTable } from "../src/app/purge-table.ts";
import { reclaimFiles } from "../src/app/reclaim-files.ts";
import { lookBeforePurging } from "../src/app/watch-clock.ts";
import { transactionTime } from "../src/store/now.ts";
import { findTable } from "../src/store/tables.ts";
import { DAY_MS, type Lab, openLab } from "./lab/lab.ts";
import { putFile, storedPaths } from "./lab/table-files.ts";
import {
  filledTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
} from "./lab/tables.ts";

const HOUR_MS = 3_600_000;
const { signal } = new AbortController();

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-purge-clock", 1);
  environment = await newEnvironment(lab);
  await lab
    .as({ subject: "eve", tenant: "other", roles: ["admin"], kind: "person" })
    .createEnvironment({ name: "dev" });
});
afterEach(async () => {
  await lab.deps.pool.query("delete from lapse_kit.clock_hold");
  await lab.deps.pool.query("delete from lapse_kit.clock_watch");
});
afterAll(() => lab.close());

const admin = () => lab.asPerson("root", "admin");
const stateOf = async ({ tableId }: Pick<Table, "tableId">) =>
  (await findTable(lab.deps.pool, tableId))?.table.state;

/** The clock went on by so much since the last look; back where it is negative. */
async function clockJumps(ms: number): Promise<void> {
  await lookBeforePurging(lab.deps);
  await lab.deps.pool.query(
    "update lapse_kit.clock_watch set last_seen_at = last_seen_at - make_interval(secs => $1 / 1000.0)",
    [ms],
  );
}

/** A turn of every job that deletes. */
async function turn(): Promise<void> {
  await beginDuePurges(lab.deps, signal);
  await giveUpStagedTables(lab.deps, signal);
  await reclaimFiles(lab.deps, signal);
  while (await purgeNextTable(lab.deps, { signal }));
}

/** One table for each thing that is deleted by the clock, all of them due. */
async function dueForDeletion() {
  const dropped = await filledTable(lab, newPlace(environment));
  await lab.asPerson("ana").dropTable(tableById(dropped.tableId));
  const staged = await stagedTable(lab, newPlace(environment));
  await putFile(lab.store, staged);
  const replaced = await filledTable(lab, newPlace(environment));
  await lab.asPerson("ana").commitTable({
    ...tableById(replaced.tableId),
    operation: CommitOperation.REPLACE,
    files: [await putFile(lab.store, replaced)],
  });
  await lab.timePasses(DAY_MS);
  return { dropped, staged, replaced };
}

type Due = Awaited<ReturnType<typeof dueForDeletion>>;
const whatIsThere = async ({ dropped, staged, replaced }: Due) => ({
  dropped: [await stateOf(dropped), (await storedPaths(lab.store, dropped)).length],
  staged: [await stateOf(staged), (await storedPaths(lab.store, staged)).length],
  replaced: (await storedPaths(lab.store, replaced)).length,
});
const EVERYTHING = { dropped: ["dropped", 1], staged: ["staged", 1], replaced: 2 };
const DELETED = { dropped: ["purged", 0], staged: ["purged", 0], replaced: 1 };

describe("a clock that", () => {
  test("goes as it should lets everything due be deleted", async () => {
    const due = await dueForDeletion();
    await clockJumps(HOUR_MS);
    await turn();
    expect(await whatIsThere(due)).toEqual(DELETED);
    expect(await admin().getPurgeStatus({})).toMatchObject({ waiting: 0n });
    expect((await admin().getPurgeStatus({})).clockHold).toBeUndefined();
  });

  test.each([
    ["leapt ahead", 3 * HOUR_MS],
    ["went back", -5_000],
  ])(
    "%s lets no purge begin, no staged table be given up and no file be reclaimed, until an admin confirms",
    async (_, ms) => {
      const due = await dueForDeletion();
      await clockJumps(ms);
      await turn();
      await turn();
      expect(await whatIsThere(due)).toEqual(EVERYTHING);
      const { clockHold, waiting } = await admin().getPurgeStatus({});
      expect(waiting).toBe(1n);
      const hold = present(clockHold);
      const [from, to] = [hold.lastSeenAt, hold.raisedAt].map((at) => timestampDate(present(at)));
      expect(Math.abs(Number(to) - Number(from) - ms)).toBeLessThan(60_000);
      expect(timestampDate(present(hold.now)) >= timestampDate(present(hold.raisedAt))).toBe(true);
      expect(await lab.metric("lapse_purge_holds")).toMatch(/lapse_purge_holds\S* 2/);
      await admin().confirmPurgeClock({});
      await turn();
      expect(await whatIsThere(due)).toEqual(DELETED);
    },
  );

  test("jumped deletes no file of a purge that had begun either", async () => {
    const { dropped } = await dueForDeletion();
    await beginDuePurges(lab.deps, signal);
    expect(await stateOf(dropped)).toBe("purging");
    await clockJumps(3 * HOUR_MS);
    await beginDuePurges(lab.deps, signal);
    expect(await purgeNextTable(lab.deps, { signal })).toBe(false);
    expect(await storedPaths(lab.store, dropped)).toHaveLength(1);
    expect((await admin().getPurgeStatus({})).waiting).toBe(1n);
    await admin().confirmPurgeClock({});
    await turn();
    expect(await stateOf(dropped)).toBe("purged");
  });

  test("jumped since a look does not agree with it: nothing more is done by that look", async () => {
    const look = await lookBeforePurging(lab.deps);
    expect(look.agrees(await transactionTime(lab.deps.pool))).toBe(true);
    expect(look.agrees(new Date(Date.now() + 3 * HOUR_MS))).toBe(false);
    expect(look.agrees(new Date(Date.now() - HOUR_MS))).toBe(false);
  });
});

describe("a hold of the purges", () => {
  test("is decided and confirmed once in the log of each tenant", async () => {
    await clockJumps(3 * HOUR_MS);
    await lookBeforePurging(lab.deps);
    await lookBeforePurging(lab.deps);
    const eve = lab.as({ subject: "eve", tenant: "other", roles: ["admin"], kind: "person" });
    const held = [{ type: "PURGE_HELD", outcome: "DECISION_OUTCOME_KEPT", reason: "clock" }];
    const since = async (tenant: string) =>
      (await lab.decisions(tenant))
        .filter(({ type }) => String(type).startsWith("PURGE_"))
        .slice(-2);
    expect((await since("local")).slice(-1)).toMatchObject(held);
    expect(await since("other")).toMatchObject([...(await since("other")).slice(0, -1), ...held]);
    await admin().confirmPurgeClock({});
    await admin().confirmPurgeClock({});
    expect(await since("local")).toMatchObject([
      ...held,
      { type: "PURGE_CONFIRMED", actor: "root", resource: { kind: "tenant", id: "local" } },
    ]);
    // Another tenant's confirmation is its own.
    expect((await eve.getPurgeStatus({})).clockHold).toMatchObject({ confirmedBy: "" });
    expect((await admin().getPurgeStatus({})).clockHold).toBeUndefined();
  });

  test("of another tenant holds nothing of this one", async () => {
    const due = await dueForDeletion();
    await clockJumps(3 * HOUR_MS);
    await lookBeforePurging(lab.deps);
    await admin().confirmPurgeClock({});
    await turn();
    expect(await whatIsThere(due)).toEqual(DELETED);
  });

  test("is shown to and confirmed by those who manage environments in the whole tenant only", async () => {
    for (const as of [lab.asPerson("dora"), lab.asPerson("rita", "reader")]) {
      await expect(as.getPurgeStatus({})).rejects.toMatchObject({ kind: "denied" });
      await expect(as.confirmPurgeClock({})).rejects.toMatchObject({
        kind: "denied",
        details: { right: "environment.manage" },
      });
    }
    expect((await lab.decisions("local")).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "rita",
      resource: { kind: "tenant" },
    });
  });
});
