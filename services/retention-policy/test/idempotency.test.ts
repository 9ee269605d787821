import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import type { Environment, Table } from "../src/domain/table.ts";
import { type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;
let environment: Environment;
let table: Table;

beforeAll(async () => {
  lab = await openLab("policy-idempotency");
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.catalog.recover();
  environment = lab.catalog.addEnvironment();
  table = lab.catalog.addTable(environment);
});

const set = (days: number, idempotencyKey: string) =>
  lab.people.owner.setTableRetention(
    { tableId: table.id, rule: { rule: { case: "days", value: days } } },
    { idempotencyKey },
  );

describe("a call with an idempotency key", () => {
  test("repeated is given the first answer, and is neither activity nor a change", async () => {
    const key = newId();
    const first = await set(3, key);
    expect(await set(3, key)).toEqual(first);
    expect(lab.catalog.table(table.id).retentionVersion).toBe(2n);
    expect(await lab.events(table.id)).toHaveLength(1);
    expect(await lab.decisions(table.id)).toHaveLength(1);
  });

  test("repeated after other changes is still given its own answer", async () => {
    const key = newId();
    const first = await set(3, key);
    await set(9, newId());
    expect(await set(3, key)).toEqual(first);
    const stored = await lab.people.owner.getTableRetention({ tableId: table.id });
    expect(stored.table?.rule?.rule).toEqual({ case: "days", value: 9 });
  });

  test("T6 belongs to who made it: another with the same key is judged, not given the answer", async () => {
    const key = newId();
    await set(3, key);
    const request = { tableId: table.id, rule: { rule: { case: "days", value: 3 } } } as const;
    const { reader, admin } = lab.people;
    await expect(reader.setTableRetention(request, { idempotencyKey: key })).rejects.toMatchObject({
      reason: "RIGHT_MISSING",
    });
    const theirs = await admin.setTableRetention(request, { idempotencyKey: key });
    expect(theirs.retention).toMatchObject({ setBy: "admin" });
  });

  test("for another request is refused", async () => {
    const key = newId();
    await set(3, key);
    await expect(set(4, key)).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
  });

  test("twice at once sets it once, and leaves no touch that keeps the table for ever", async () => {
    const key = newId();
    let arrived = 0;
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    lab.catalog.afterTouch = async () => {
      arrived += 1;
      if (arrived === 2) release();
      await both;
    };
    const [one, other] = await Promise.all([set(3, key), set(3, key)]);
    expect(one).toEqual(other);
    expect(await lab.decisions(table.id)).toHaveLength(1);
    const { table: stored } = await lab.people.owner.getTableRetention({ tableId: table.id });
    expect(stored?.retentionVersion).toBe(lab.catalog.table(table.id).retentionVersion);
  });

  test("without a key the same call twice is two changes", async () => {
    const request = { tableId: table.id, rule: { rule: { case: "days", value: 3 } } } as const;
    await lab.people.owner.setTableRetention(request);
    await lab.people.owner.setTableRetention(request);
    expect(await lab.decisions(table.id)).toHaveLength(2);
  });

  test("an environment's retention is set once likewise", async () => {
    const idempotencyKey = newId();
    const request = { environmentId: environment.id, days: 30 };
    const { admin } = lab.people;
    const first = await admin.setEnvironmentRetention(request, { idempotencyKey });
    expect(await admin.setEnvironmentRetention(request, { idempotencyKey })).toEqual(first);
    expect(lab.catalog.environment(environment.id).policyVersion).toBe(1n);
    expect(await lab.decisions(environment.id)).toHaveLength(1);
  });
});
