import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;

beforeAll(async () => {
  lab = await openLab("policy-stored-rules");
});
afterAll(() => lab.close());

const storeTable = (values: string) =>
  lab.pool.query(
    `insert into table_retention
     values (gen_random_uuid(), 'local', gen_random_uuid(), ${values})`,
  );
const storeEnvironment = (values: string) =>
  lab.pool.query(
    `insert into environment_retention values (gen_random_uuid(), 'local', ${values})`,
  );

// rule_kind, days, on_date, set_by, set_at, retention_version
describe("T10 the database stores exactly one rule of a table, or none", () => {
  test.each([
    "'days', 30, null, 'ana', now(), 1",
    "'on', null, '2030-01-01', 'ana', now(), 1",
    "'never', null, null, 'ana', now(), 1",
    "null, null, null, null, null, 0",
  ])("takes %s", async (values) => {
    await storeTable(values);
  });

  test.each([
    "'days', null, null, 'ana', now(), 1",
    "'days', 0, null, 'ana', now(), 1",
    "'days', 3651, null, 'ana', now(), 1",
    "'days', 30, '2030-01-01', 'ana', now(), 1",
    "'on', null, null, 'ana', now(), 1",
    "'never', 30, null, 'ana', now(), 1",
    "'never', null, null, null, now(), 1",
    "'never', null, null, 'ana', null, 1",
    "'weekly', null, null, 'ana', now(), 1",
    "null, 30, null, null, null, 1",
    "null, null, null, 'ana', now(), 1",
    "null, null, null, null, null, -1",
  ])("refuses %s", async (values) => {
    await expect(storeTable(values)).rejects.toThrow(/check constraint/);
  });
});

// days, set_by, set_at, policy_version
describe("T10 the database stores an environment's days, or that they are off", () => {
  test.each(["30, 'ana', now(), 1", "null, 'ana', now(), 1", "null, null, null, 0"])(
    "takes %s",
    async (values) => {
      await storeEnvironment(values);
    },
  );

  test.each([
    "0, 'ana', now(), 1",
    "3651, 'ana', now(), 1",
    "30, null, null, 1",
    "null, 'ana', null, 1",
    "null, null, now(), 1",
    "null, null, null, -1",
  ])("refuses %s", async (values) => {
    await expect(storeEnvironment(values)).rejects.toThrow(/check constraint/);
  });
});
