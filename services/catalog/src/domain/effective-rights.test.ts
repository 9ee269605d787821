import { describe, expect, test } from "@jest/globals";
import {
  RIGHTS,
  ROLES,
  type Role,
  TABLE_GRANTS,
  TABLE_RIGHTS,
  type TableGrant,
  TENANT_RIGHTS,
} from "@lapse/kit";
import fc from "fast-check";
import { aTable } from "../../test/builders.ts";
import { environmentRights, tableRights } from "./effective-rights.ts";
import type { TableState } from "./table.ts";

const NOBODY = { subject: "eve", grants: [] };
const roles = fc.subarray([...ROLES]);
const grants = fc.subarray([...TABLE_GRANTS]);
const STATES: TableState[] = ["staged", "live", "dropped", "purging", "purged"];

describe("rights in an environment", () => {
  test("T6 a role of one environment gives nothing that is the whole tenant's", () => {
    expect(environmentRights({ everywhere: [], here: ["superadmin"] })).toEqual(
      RIGHTS.filter((right) => !TENANT_RIGHTS.includes(right)).sort(),
    );
    expect(environmentRights({ everywhere: ["admin"], here: [] })).toEqual([...RIGHTS].sort());
  });

  test("T6 are sorted, each once, and never fewer with more roles", () => {
    fc.assert(
      fc.property(roles, roles, roles, (everywhere, here, more) => {
        const rights = environmentRights({ everywhere, here });
        expect(rights).toEqual([...new Set(rights)].sort());
        for (const held of [
          { everywhere: [...everywhere, ...more], here },
          { everywhere, here: [...here, ...more] },
        ]) {
          expect(environmentRights(held)).toEqual(expect.arrayContaining([...rights]));
        }
      }),
    );
  });
});

describe("rights on a table", () => {
  test.each(STATES)("T27 grants count on a %s table only while it is there", (state) => {
    const table = aTable({ state });
    const held = { everywhere: [], here: [] };
    const all: TableGrant[] = [...TABLE_GRANTS];
    expect(tableRights(table, held, { subject: "eve", grants: all })).toEqual(
      state === "live" || state === "staged" ? ["table.drop", "table.read", "table.write"] : [],
    );
    // Ownership and roles do in every state: they decide who may bring it back.
    expect(tableRights(table, held, { subject: table.owner, grants: [] })).toEqual(TABLE_RIGHTS);
    const here: Role[] = ["data_engineer"];
    expect(tableRights(table, { everywhere: [], here }, NOBODY)).toContain("table.drop");
  });

  test("T6 are the sum of each way, and only such as a table gives", () => {
    fc.assert(
      fc.property(roles, roles, grants, fc.boolean(), (everywhere, here, given, owns) => {
        const table = aTable();
        const subject = owns ? table.owner : "eve";
        const rights = tableRights(table, { everywhere, here }, { subject, grants: given });
        const parts = [
          tableRights(table, { everywhere, here: [] }, NOBODY),
          tableRights(table, { everywhere: [], here }, NOBODY),
          tableRights(table, { everywhere: [], here: [] }, { subject: "eve", grants: given }),
          tableRights(table, { everywhere: [], here: [] }, { subject, grants: [] }),
        ];
        expect(rights).toEqual([...new Set(parts.flat())].sort());
        for (const right of rights) expect(TABLE_RIGHTS).toContain(right);
      }),
    );
  });
});
