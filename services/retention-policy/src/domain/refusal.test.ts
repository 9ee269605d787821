import { describe, expect, test } from "@jest/globals";
import type { TableRule } from "@lapse/rules";
import { refusalToSet } from "./refusal.ts";
import type { Table } from "./table.ts";

const TABLE: Table = {
  id: "01890b5e-0000-7000-8000-000000000001",
  tenant: "local",
  environmentId: "01890b5e-0000-7000-8000-000000000002",
  environment: "dev",
  name: "bronze.trial",
  kind: "managed",
  state: "live",
  owner: "ana",
  rights: [],
  environmentProtected: false,
  projectAsset: false,
  lastChangedAt: new Date("2026-01-01T00:00:00Z"),
  restoredAt: null,
  changeVersion: 1n,
  retentionVersion: 0n,
};
const DAYS: TableRule = { kind: "days", days: 30 };
const ON: TableRule = { kind: "on", on: "2026-12-31" };
const NEVER: TableRule = { kind: "never" };

describe("refusalToSet", () => {
  test.each([DAYS, ON, NEVER])("a live or staged managed table takes $kind", (rule) => {
    expect(refusalToSet(TABLE, rule)).toBeNull();
    expect(refusalToSet({ ...TABLE, state: "staged" }, rule)).toBeNull();
  });

  test.each([DAYS, ON])("T19 a protected environment refuses $kind", (rule) => {
    expect(refusalToSet({ ...TABLE, environmentProtected: true }, rule)?.reason).toBe(
      "ENVIRONMENT_PROTECTED",
    );
  });

  test("T19 a protected environment accepts never", () => {
    expect(refusalToSet({ ...TABLE, environmentProtected: true }, NEVER)).toBeNull();
  });

  test.each(["view", "external", "artifact"] as const)(
    "T22 refuses every rule on a kind %s",
    (kind) => {
      for (const rule of [DAYS, ON, NEVER]) {
        expect(refusalToSet({ ...TABLE, kind }, rule)?.reason).toBe("NOT_MANAGED");
      }
    },
  );

  test.each(["dropped", "purging", "purged"] as const)("a %s table is not there", (state) => {
    expect(refusalToSet({ ...TABLE, state }, NEVER)?.reason).toBe("TABLE_NOT_FOUND");
  });

  test("T20 a project asset may be given a rule, which keeps it once it is one no more", () => {
    expect(refusalToSet({ ...TABLE, projectAsset: true }, DAYS)).toBeNull();
  });
});
