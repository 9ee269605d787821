import { describe, expect, test } from "@jest/globals";
import { type Principal, parsePrincipal, ROLES, type Role } from "./principal.ts";
import { hasRight, mayGive, RIGHTS, type Right, requireRight, rightsFrom } from "./rights.ts";

const person = (...roles: Role[]): Principal => ({
  subject: "ana",
  tenant: "acme",
  roles,
  kind: "person",
});
const rightsOf = (principal: Principal, owner?: string) =>
  RIGHTS.filter((right) => hasRight(principal, right, { owner }));

describe("hasRight", () => {
  test.each<[Role, Right[]]>([
    ["reader", ["table.read"]],
    ["writer", ["table.read", "table.write"]],
    ["data_engineer", ["table.read", "table.write", "table.create", "table.drop"]],
    ["admin", [...RIGHTS]],
    ["superadmin", [...RIGHTS]],
  ])("a %s may %j", (role, rights) => {
    expect(rightsOf(person(role))).toEqual(rights);
  });

  test("each role may what those before it may", () => {
    ROLES.forEach((role, index) => {
      const [all, before] = [rightsOf(person(role)), ROLES.slice(0, index).map((r) => person(r))];
      for (const lesser of before) expect(all).toEqual(expect.arrayContaining(rightsOf(lesser)));
    });
  });

  test("roles add up, and no role gives nothing", () => {
    expect(rightsOf(person("reader", "data_engineer"))).toContain("table.drop");
    expect(rightsOf(person())).toEqual([]);
  });

  test("T6 the owner of a table may anything on it, and nothing else", () => {
    expect(rightsOf(person(), "ana")).toEqual([
      "table.read",
      "table.write",
      "table.drop",
      "access.manage",
    ]);
    expect(rightsOf(person(), "ben")).toEqual([]);
  });

  test("T6 what the catalog says of the thing in question counts beside the roles", () => {
    expect(hasRight(person(), "table.drop", { rights: ["table.drop"] })).toBe(true);
    expect(hasRight(person(), "table.write", { rights: ["table.drop"] })).toBe(false);
  });

  test("a service may anything", () => {
    const service: Principal = { subject: "catalog", tenant: "*", roles: [], kind: "service" };
    expect(rightsOf(service)).toEqual(RIGHTS);
  });

  test("requireRight refuses with the right and who lacks it", () => {
    expect(() => requireRight(person("reader"), "table.drop")).toThrow(
      expect.objectContaining({
        kind: "denied",
        reason: "RIGHT_MISSING",
        details: { right: "table.drop", subject: "ana" },
      }),
    );
    requireRight(person("reader"), "table.drop", { owner: "ana" });
  });
});

describe("parsePrincipal", () => {
  const claims = { subject: "ana", tenant: "acme", roles: ["reader"], kind: "person" };

  test("keeps the roles it knows, and takes a person where no kind is given", () => {
    const roles = ["reader", "emperor", 7, null];
    expect(parsePrincipal({ subject: "ana", tenant: "acme", roles })).toEqual(claims);
    expect(parsePrincipal({ subject: "ana", tenant: "acme" })).toEqual({ ...claims, roles: [] });
  });

  test.each([
    [{ ...claims, subject: undefined }, /subject/],
    [{ ...claims, subject: "" }, /subject/],
    [{ ...claims, tenant: "" }, /tenant/],
    [{ ...claims, tenant: 1 }, /tenant/],
    [{ ...claims, kind: "god" }, /kind/],
    [{ ...claims, roles: "admin" }, /roles/],
    [{ ...claims, tenant: "*" }, /only a service/],
    [{ ...claims, kind: "service" }, /only a service/],
    [{ ...claims, subject: "a".repeat(201) }, /subject/],
    [null, /expected object/],
  ])("refuses %j", (value, why) => {
    expect(parsePrincipal(value)).toMatch(why);
  });
});

describe("mayGive", () => {
  test("T6 nobody gives a role above their own", () => {
    for (const own of ROLES) {
      expect(ROLES.filter((role) => mayGive([own], role))).toEqual(
        ROLES.slice(0, ROLES.indexOf(own) + 1),
      );
    }
    expect(mayGive([], "reader")).toBe(false);
    expect(mayGive(["reader", "admin"], "data_engineer")).toBe(true);
  });
});

describe("rightsFrom", () => {
  test("T6 roles, grants and ownership add up, each right once and sorted", () => {
    expect(rightsFrom({ roles: ["reader"], grants: ["write"] })).toEqual([
      "table.read",
      "table.write",
    ]);
    expect(rightsFrom({ roles: [], isOwner: true })).toEqual([
      "access.manage",
      "table.drop",
      "table.read",
      "table.write",
    ]);
  });

  test("a grant to write or drop shows the table", () => {
    expect(rightsFrom({ roles: [], grants: ["drop"] })).toEqual(["table.drop", "table.read"]);
  });

  test("nothing given is no right", () => {
    expect(rightsFrom({ roles: [] })).toEqual([]);
  });
});
