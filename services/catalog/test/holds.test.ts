import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Hold, Table } from "@lapse/proto/catalog";
import { measureBacklog, removeEndedHolds } from "../src/app/remove-ended.ts";
import { MAX_HOLDS_PER_TABLE } from "../src/domain/hold.ts";
import { aName, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import {
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
} from "./lab/tables.ts";

const HOUR_MS = 3_600_000;
const signal = new AbortController().signal;

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-holds");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const hold = async ({ tableId }: Table, kind = ""): Promise<Hold> =>
  present((await lab.asPerson("will", "writer").createHold({ ...tableById(tableId), kind })).hold);
const renew = (holdId: string, subject = "will") =>
  lab.asPerson(subject, "writer").renewHold({ holdId });
const lasts = ({ createdAt, expiresAt }: Hold) =>
  timestampDate(present(expiresAt)).getTime() - timestampDate(present(createdAt)).getTime();

describe("CreateHold", () => {
  test("T21 gives a lease of the configured time to its holder", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const given = await hold(table);
    expect(given).toMatchObject({ tableId: table.tableId, kind: "write", holder: "will" });
    expect(lasts(given)).toBe(HOUR_MS);
    expect(await hold(table, "pipeline_task")).toMatchObject({ kind: "pipeline_task" });
  });

  test("works on a staged table, by its id", async () => {
    await expect(hold(await stagedTable(lab, newPlace(environment)))).resolves.toBeDefined();
  });

  test("is refused for a kind that does not exist, a reader, and a table that is gone", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await expect(hold(table, "sleep")).rejects.toMatchObject({ violations: [{ field: "/kind" }] });
    await expect(
      lab.asPerson("rita", "reader").createHold(tableById(table.tableId)),
    ).rejects.toMatchObject({ kind: "denied" });
    await lab.asPerson("ana").dropTable(tableById(table.tableId));
    await expect(hold(table)).rejects.toMatchObject({ reason: "TABLE_DROPPED" });
  });

  test("is one hold for the same idempotency key", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const options = { idempotencyKey: aName() };
    const first = await lab.asPerson("ana").createHold(tableById(table.tableId), options);
    expect(await lab.asPerson("ana").createHold(tableById(table.tableId), options)).toEqual(first);
  });

  test("is bounded in number per table", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await lab.deps.pool.query(
      `insert into write_hold select gen_random_uuid(), $1, 'local', 'write', 'x', now(), now() + interval '1 hour'
       from generate_series(1, $2)`,
      [table.tableId, MAX_HOLDS_PER_TABLE],
    );
    await expect(hold(table)).rejects.toMatchObject({
      kind: "exhausted",
      reason: "TOO_MANY_HOLDS",
    });
    await lab.timePasses(HOUR_MS);
    await expect(hold(table)).resolves.toBeDefined();
  });
});

describe("RenewHold", () => {
  test("T21 lets the hold last its full time again", async () => {
    const given = await hold(await liveTable(lab, newPlace(environment)));
    await lab.timePasses(HOUR_MS - 60_000);
    const renewed = present((await renew(given.holdId)).hold);
    expect(lasts(renewed)).toBeGreaterThanOrEqual(2 * HOUR_MS - 60_000);
  });

  test("T21 is refused once the hold has ended, whether it has been removed or not", async () => {
    const given = await hold(await liveTable(lab, newPlace(environment)));
    await lab.timePasses(HOUR_MS);
    await expect(renew(given.holdId)).rejects.toMatchObject({
      kind: "not_found",
      reason: "HOLD_ENDED",
    });
    await removeEndedHolds(lab.deps, signal);
    await expect(renew(given.holdId)).rejects.toMatchObject({ reason: "HOLD_ENDED" });
  });

  test("is for the holder, and for a service", async () => {
    const given = await hold(await liveTable(lab, newPlace(environment)));
    await expect(renew(given.holdId, "wanda")).rejects.toMatchObject({ kind: "denied" });
    await expect(
      lab.as(SERVICE_PRINCIPAL).renewHold({ holdId: given.holdId }),
    ).resolves.toBeDefined();
    const outsider = lab.as({
      subject: "will",
      tenant: "other",
      roles: ["superadmin"],
      kind: "person",
    });
    await expect(outsider.renewHold({ holdId: given.holdId })).rejects.toMatchObject({
      reason: "HOLD_ENDED",
    });
  });
});

describe("ReleaseHold", () => {
  test("ends the hold, and minds none that has ended", async () => {
    const given = await hold(await liveTable(lab, newPlace(environment)));
    const client = lab.asPerson("will", "writer");
    await client.releaseHold({ holdId: given.holdId });
    await expect(renew(given.holdId)).rejects.toMatchObject({ reason: "HOLD_ENDED" });
    await expect(client.releaseHold({ holdId: given.holdId })).resolves.toBeDefined();
    await expect(client.releaseHold({ holdId: "x" })).rejects.toMatchObject({ kind: "invalid" });
  });

  test("is for the holder and whoever may drop the table", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const given = await hold(table);
    await expect(
      lab.asPerson("wanda", "writer").releaseHold({ holdId: given.holdId }),
    ).rejects.toMatchObject({ kind: "denied" });
    expect((await lab.decisions(table.tableId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
      actor: "wanda",
    });
    await expect(
      lab.asPerson("dora", "data_engineer").releaseHold({ holdId: given.holdId }),
    ).resolves.toBeDefined();
  });
});

describe("ListHolds", () => {
  const list = async ({ tableId }: Table, as = lab.asPerson("rita", "reader")) =>
    (await as.listHolds(tableById(tableId))).holds;

  test("T21 shows those that have not ended, the one that lasts longest first, with their holders", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await hold(table);
    await lab.timePasses(HOUR_MS);
    const write = await hold(table);
    await lab.timePasses(1_000);
    const task = await hold(table, "pipeline_task");
    const shown = await list(table);
    expect(shown.map(({ holdId, kind, holder }) => [holdId, kind, holder])).toEqual([
      [task.holdId, "pipeline_task", "will"],
      [write.holdId, "write", "will"],
    ]);
    await lab.asPerson("will", "writer").releaseHold({ holdId: task.holdId });
    expect((await list(table)).map(({ holdId }) => holdId)).toEqual([write.holdId]);
  });

  test("needs the right to read; of another tenant's table there is none to see", async () => {
    const table = await liveTable(lab, newPlace(environment));
    await hold(table);
    const nobody = { subject: "eve", tenant: "local", roles: [], kind: "person" } as const;
    await expect(list(table, lab.as(nobody))).rejects.toMatchObject({ kind: "denied" });
    const outsider = lab.as({ ...nobody, tenant: "other", roles: ["superadmin"] });
    await expect(list(table, outsider)).rejects.toMatchObject({ reason: "TABLE_NOT_FOUND" });
  });
});

describe("removeEndedHolds", () => {
  test("T21 removes the holds of writers that crashed, and no others", async () => {
    const table = await liveTable(lab, newPlace(environment));
    const ended = await hold(table);
    await lab.timePasses(HOUR_MS);
    const lasting = await hold(table);
    await removeEndedHolds(lab.deps, signal);
    const { rows } = await lab.deps.pool.query<{ hold_id: string }>(
      "select hold_id from write_hold where table_id = $1",
      [table.tableId],
    );
    expect(rows.map((row) => row.hold_id)).toEqual([lasting.holdId]);
    expect(ended.holdId).not.toBe(lasting.holdId);
    await measureBacklog(lab.deps);
    expect(await lab.metric("lapse_holds_active")).toMatch(
      /lapse_holds_active\{service="catalog"\} [1-9]/,
    );
  });
});
