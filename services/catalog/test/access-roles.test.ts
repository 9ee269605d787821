import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId, type Principal, type Role } from "@lapse/kit";
import {
  bind,
  eachRefused,
  inEnvironment,
  person,
  ROOT,
  refusals,
  somebody,
} from "./lab/access.ts";
import { aName, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import { newEnvironment, present } from "./lab/tables.ts";

let lab: Lab;
let environment: string;
beforeAll(async () => {
  lab = await openLab("catalog-access-roles");
  environment = await newEnvironment(lab);
});
afterAll(() => lab.close());

const SUPER = person("top", "superadmin");
const rolesOf = async ({ subject }: Principal) =>
  (await lab.access(ROOT).listRoles({ subject })).grants;
const grantRole = (by: Principal, subject: string, role: string, where?: string) =>
  lab.access(by).grantRole({ subject, role, ...(where !== undefined && inEnvironment(where)) });
const revokeRole = (by: Principal, subject: string, role: string, where?: string) =>
  lab.access(by).revokeRole({ subject, role, ...(where !== undefined && inEnvironment(where)) });
const environmentId = async () =>
  present((await lab.as(ROOT).getEnvironment(inEnvironment(environment))).environment)
    .environmentId;

/** The decisions of these types about one subject, whatever they are recorded on. */
const decisionsOn = async (resource: string, subject: string) =>
  (await lab.decisions(resource)).filter(
    ({ details }) => (details as { subject?: string } | undefined)?.subject === subject,
  );

describe("GrantRole and RevokeRole", () => {
  test("T6 give and take a role, once each however often they are called, with a decision", async () => {
    const who = somebody();
    const first = await grantRole(ROOT, who.subject, "writer", environment);
    expect(first.grant).toMatchObject({
      subject: who.subject,
      role: "writer",
      environment,
      grantedBy: "root",
    });
    const again = await grantRole(SUPER, who.subject, "writer", environment);
    expect(again).toEqual(first);
    await grantRole(ROOT, who.subject, "reader");
    expect(await rolesOf(who)).toMatchObject([
      { role: "reader", environment: "" },
      { role: "writer", environment },
    ]);
    await revokeRole(ROOT, who.subject, "writer", environment);
    await revokeRole(ROOT, who.subject, "writer", environment);
    // The other one, of the whole tenant, is another binding.
    expect(await rolesOf(who)).toMatchObject([{ role: "reader", environment: "" }]);
    expect(await decisionsOn(await environmentId(), who.subject)).toMatchObject([
      {
        type: "ROLE_GRANTED",
        actor: "root",
        resource: { kind: "environment", name: environment },
        details: { role: "writer" },
      },
      { type: "ROLE_REVOKED", actor: "root", details: { role: "writer" } },
    ]);
    expect(await decisionsOn("local", who.subject)).toMatchObject([
      {
        type: "ROLE_GRANTED",
        resource: { kind: "tenant", name: "local" },
        details: { role: "reader" },
      },
    ]);
  });

  test("repeats its answer for the same idempotency key, after the role was taken back too", async () => {
    const who = somebody();
    const options = { idempotencyKey: aName() };
    const request = { subject: who.subject, role: "reader" };
    const first = await lab.access(ROOT).grantRole(request, options);
    await revokeRole(ROOT, who.subject, "reader");
    expect(await lab.access(ROOT).grantRole(request, options)).toEqual(first);
    expect(await rolesOf(who)).toEqual([]);
  });

  test.each<[Role[], string, boolean]>([
    [["reader"], "reader", false],
    [["data_engineer"], "reader", false],
    [["admin"], "reader", true],
    [["admin"], "admin", true],
    [["admin"], "superadmin", false],
    [["superadmin"], "superadmin", true],
  ])(
    "T6 %j grants and takes %s in the tenant: %s; nobody gives a role above their own",
    async (roles, role, allowed) => {
      const [by, who] = [somebody(...roles), somebody()];
      if (!allowed) await bind(lab, who, role as Role);
      const before = await rolesOf(who);
      for (const call of [grantRole, revokeRole]) {
        const outcome = call(by, who.subject, role);
        if (allowed) await outcome;
        else
          await expect(outcome).rejects.toMatchObject({ kind: "denied", reason: "RIGHT_MISSING" });
      }
      expect(await rolesOf(who)).toEqual(before);
      expect(await refusals(lab, "local", by)).toHaveLength(allowed ? 0 : 2);
    },
  );

  test("T6 the admin of an environment gives roles up to admin there, and none elsewhere", async () => {
    const [by, who] = [somebody(), somebody()];
    await bind(lab, by, "admin", environment);
    await grantRole(by, who.subject, "admin", environment);
    const elsewhere = await newEnvironment(lab);
    const refusedOnes = await eachRefused([
      grantRole(by, who.subject, "superadmin", environment),
      grantRole(by, who.subject, "reader", elsewhere),
      grantRole(by, who.subject, "reader"),
      // Not even to itself.
      grantRole(by, by.subject, "admin"),
    ]);
    for (const error of refusedOnes) expect(error).toMatchObject({ reason: "RIGHT_MISSING" });
    expect(await rolesOf(who)).toMatchObject([{ role: "admin", environment }]);
    expect(await rolesOf(by)).toMatchObject([{ role: "admin", environment }]);
    expect(await refusals(lab, "local", by)).toMatchObject([
      { details: { right: "access.manage" } },
      { details: { right: "access.manage" } },
    ]);
  });

  test("T6 who is superadmin by a bound role, beside an admin's token, gives that too", async () => {
    const [by, who] = [somebody("admin"), somebody()];
    await expect(grantRole(by, who.subject, "superadmin")).rejects.toMatchObject({
      kind: "denied",
    });
    await bind(lab, by, "superadmin");
    await grantRole(by, who.subject, "superadmin");
    expect(await rolesOf(who)).toMatchObject([{ role: "superadmin" }]);
  });

  test("the owner of a table gives no role", async () => {
    await expect(
      grantRole(person("ana", "data_engineer"), "ben", "reader", environment),
    ).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
  });

  test.each([
    ["", "reader"],
    ["*", "reader"],
    ["an*", "reader"],
    ["ana smith", "reader"],
    ["ana\u0000", "reader"],
    ["ana\u200b", "reader"],
    ["role:reader", "reader"],
    ["x".repeat(201), "reader"],
    ["ana", "emperor"],
    ["ana", ""],
  ])("refuses the subject %j with the role %j, and stores nothing", async (subject, role) => {
    await expect(grantRole(ROOT, subject, role)).rejects.toMatchObject({
      kind: "invalid",
      reason: "REQUEST_INVALID",
    });
    const { rows } = await lab.deps.pool.query("select from role_binding where subject = $1", [
      subject.replaceAll("\0", ""),
    ]);
    expect(rows).toEqual([]);
  });

  test("takes a subject for text, whatever is in it", async () => {
    const subject = `x';drop-table-role_binding;--"${aName()}`;
    await grantRole(ROOT, subject, "reader");
    expect((await lab.access(ROOT).listRoles({ subject })).grants).toHaveLength(1);
  });

  test("knows no environment of another tenant", async () => {
    const stranger: Principal = { ...somebody("superadmin"), tenant: "other" };
    await expect(grantRole(stranger, "ben", "reader", environment)).rejects.toMatchObject({
      reason: "ENVIRONMENT_NOT_FOUND",
    });
    await grantRole(stranger, "ben-of-other", "reader");
    expect((await lab.access(ROOT).listRoles({ subject: "ben-of-other" })).grants).toEqual([]);
  });

  test("a service that acts for nobody names an environment by its id, or is told to act for somebody", async () => {
    const service = lab.access(SERVICE_PRINCIPAL);
    const who = somebody();
    const request = { subject: who.subject, role: "reader" };
    await expect(service.grantRole(request)).rejects.toMatchObject({ reason: "TENANT_REQUIRED" });
    const value = await environmentId();
    await service.grantRole({ ...request, environment: { ref: { case: "environmentId", value } } });
    expect(await rolesOf(who)).toMatchObject([{ environment }]);
  });
});

describe("ListRoles", () => {
  test("pages through all roles once, by subject", async () => {
    const name = await newEnvironment(lab);
    const subjects = Array.from({ length: 7 }, (_, index) => `s${index}-${aName()}`);
    for (const subject of subjects) {
      await grantRole(ROOT, subject, "reader", name);
      await grantRole(ROOT, subject, "writer", name);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await lab.access(ROOT).listRoles({ ...inEnvironment(name), limit: 3, cursor });
      expect(page.grants.length).toBeLessThanOrEqual(3);
      seen.push(...page.grants.map(({ subject, role }) => `${subject} ${role}`));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(subjects.flatMap((subject) => [`${subject} reader`, `${subject} writer`]));
  });

  test("shows the roles of the whole tenant, and its own to anybody", async () => {
    const who = somebody();
    await bind(lab, who, "reader", environment);
    const all = await lab.access(ROOT).listRoles({ limit: 1000 });
    expect(all.grants.map(({ subject }) => subject)).toContain(who.subject);
    const own = await lab.access(who).listRoles({ subject: who.subject });
    expect(own.grants).toMatchObject([{ role: "reader", environment }]);
    for (const request of [{}, inEnvironment(environment), { subject: "root" }]) {
      await expect(lab.access(who).listRoles(request)).rejects.toMatchObject({
        reason: "RIGHT_MISSING",
      });
    }
    expect(await refusals(lab, "local", who)).toHaveLength(2);
  });

  test("shows an environment's admin those of that environment", async () => {
    const by = somebody();
    await bind(lab, by, "admin", environment);
    const { grants } = await lab.access(by).listRoles(inEnvironment(environment));
    expect(grants.map(({ subject }) => subject)).toContain(by.subject);
    await expect(lab.access(by).listRoles({})).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
  });

  test("refuses the cursor of another list", async () => {
    const cursor = Buffer.from(JSON.stringify(["key", newId(), ""])).toString("base64url");
    await expect(lab.access(ROOT).listRoles({ cursor })).rejects.toMatchObject({
      violations: [{ field: "/cursor" }],
    });
  });
});
