import { describe, expect, test } from "@jest/globals";
import { ROLES, type Role } from "@lapse/kit";
import fc from "fast-check";
import { aTable, NOW } from "../../test/builders.ts";
import { type ColumnMask, MASKS, stricter } from "./column-mask.ts";
import { appliedPolicies, isExempt, keepPolicyColumns, NO_POLICIES } from "./policies.ts";
import type { RowFilter } from "./row-filter.ts";

const filterFor = (appliesTo: string): RowFilter => ({
  name: `for ${appliesTo}`,
  appliesTo,
  column: "id",
  operator: "=",
  values: [appliesTo],
  setBy: "ana",
  setAt: NOW,
});
const maskFor = (appliesTo: string, mask: ColumnMask["mask"]): ColumnMask => ({
  column: "id",
  appliesTo,
  mask,
  setBy: "ana",
  setAt: NOW,
});
const eve = { subject: "eve", kind: "person" } as const;

const appliesTo = fc.constantFrom("*", "eve", "ben", ...ROLES.map((role) => `role:${role}`));
const lesserRoles = fc.subarray<Role>(["reader", "writer", "data_engineer"]);

describe("appliedPolicies", () => {
  test("a filter applies exactly to whom it names", () => {
    fc.assert(
      fc.property(fc.array(appliesTo), lesserRoles, (names, roles) => {
        const { filters } = appliedPolicies({ filters: names.map(filterFor), masks: [] }, eve, {
          roles,
          owner: "ana",
        });
        const mine = ["*", "eve", ...roles.map((role) => `role:${role}`)];
        expect(filters.map(({ values }) => values[0])).toEqual(
          names.filter((name) => mine.includes(name)),
        );
      }),
    );
  });

  test("one more filter never lets anybody see more", () => {
    fc.assert(
      fc.property(fc.array(appliesTo), appliesTo, lesserRoles, (names, another, roles) => {
        const of = (all: string[]) =>
          appliedPolicies({ filters: all.map(filterFor), masks: [] }, eve, { roles, owner: "ana" });
        expect(of([...names, another]).filters).toEqual(
          expect.arrayContaining([...of(names).filters]),
        );
      }),
    );
  });

  test("one more mask never lets anybody see more, in whatever order they were set", () => {
    const masks = fc.array(fc.record({ to: appliesTo, mask: fc.constantFrom(...MASKS) }));
    fc.assert(
      fc.property(masks, masks, lesserRoles, (some, more, roles) => {
        const of = (all: typeof some) =>
          appliedPolicies(
            { filters: [], masks: all.map(({ to, mask }) => maskFor(to, mask)) },
            eve,
            { roles, owner: "ana" },
          ).masks[0]?.mask;
        const [before, after] = [of(some), of([...some, ...more])];
        if (before) expect(stricter(before, after ?? before)).toBe(after);
        expect(of([...more, ...some])).toBe(after);
      }),
    );
  });

  test("nothing applies to the owner, to admins and to services", () => {
    const all = {
      filters: [filterFor("*"), filterFor("role:admin")],
      masks: [maskFor("*", "null")],
    };
    const cases = [
      [{ ...eve }, { roles: [], owner: "eve" }],
      [{ ...eve }, { roles: ["reader", "admin"], owner: "ana" }],
      [{ ...eve }, { roles: ["superadmin"], owner: "ana" }],
      [
        { subject: "audit", kind: "service" },
        { roles: [], owner: "ana" },
      ],
    ] as const;
    for (const [reader, standing] of cases) {
      expect(isExempt(reader, standing)).toBe(true);
      expect(appliedPolicies(all, reader, standing)).toEqual(NO_POLICIES);
    }
    const writer = { roles: ["data_engineer"], owner: "ana" } as const;
    expect(isExempt(eve, writer)).toBe(false);
    expect(appliedPolicies(all, { subject: "key:1", kind: "key" }, writer).filters).toHaveLength(1);
  });
});

describe("keepPolicyColumns", () => {
  const table = aTable({
    columns: [
      { name: "id", type: "BIGINT", required: true },
      { name: "email", type: "VARCHAR", required: false },
    ],
  });
  const policies = { filters: [filterFor("*")], masks: [] };

  test("takes other columns where none of them has a policy", () => {
    expect(
      keepPolicyColumns(table, [{ name: "id", type: "INTEGER", required: false }], policies),
    ).toMatchObject({ ok: true });
    expect(keepPolicyColumns(table, [], { filters: [], masks: [] })).toMatchObject({ ok: true });
  });

  test.each([
    ["left out", []],
    ["renamed", [{ name: "ID", type: "BIGINT", required: true }]],
    ["of another family", [{ name: "id", type: "VARCHAR", required: true }]],
  ])("refuses a column with a policy that is %s", (_, columns) => {
    expect(keepPolicyColumns(table, columns, policies)).toMatchObject({
      ok: false,
      refusal: { reason: "COLUMN_IN_POLICY" },
    });
  });
});
