import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;
let now = new Date();

beforeAll(async () => {
  lab = await openLab("policy-today", { at: () => now });
});
afterAll(() => lab.close());

const setOn = (on: string) => {
  const { id } = lab.catalog.addTable(lab.catalog.addEnvironment());
  const rule = { rule: { case: "on", value: on } } as const;
  return lab.people.owner.setTableRetention({ tableId: id, rule });
};

describe("T3 a day must be after today, in UTC and by the service's clock", () => {
  test("tomorrow is, up to the last millisecond of today", async () => {
    now = new Date("2027-05-31T23:59:59.999Z");
    expect((await setOn("2027-06-01")).retention?.rule?.rule.value).toBe("2027-06-01");
    await expect(setOn("2027-05-31")).rejects.toMatchObject({ reason: "RETENTION_INVALID" });
  });

  test("from midnight on, that day is today", async () => {
    now = new Date("2027-06-01T00:00:00.000Z");
    await expect(setOn("2027-06-01")).rejects.toMatchObject({
      reason: "RETENTION_INVALID",
      message: expect.stringContaining("drop it instead"),
    });
  });
});
