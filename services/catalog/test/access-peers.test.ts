import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId, type Principal, RIGHTS, type Role } from "@lapse/kit";
import {
  ANA,
  bind,
  eachRefused,
  grant,
  inEnvironment,
  person,
  refusals,
  somebody,
} from "./lab/access.ts";
import { type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import {
  liveTable,
  newEnvironment,
  newPlace,
  present,
  stagedTable,
  tableById,
} from "./lab/tables.ts";

let lab: Lab;
let environment: string;
let environmentId: string;
beforeAll(async () => {
  lab = await openLab("catalog-access-peers");
  environment = await newEnvironment(lab);
  const found = await lab.as(ANA).getEnvironment(inEnvironment(environment));
  ({ environmentId } = present(found.environment));
});
afterAll(() => lab.close());

const service = () => lab.access(SERVICE_PRINCIPAL);
const readable = (principal: Principal, id = environmentId) =>
  service().getReadableTables({ environmentId: id }, { principal });

describe("GetReadableTables", () => {
  test("T11 says all to who has a role there, however it was given, and lists nothing then", async () => {
    const [everywhere, here] = [somebody(), somebody()];
    await bind(lab, everywhere, "reader");
    await bind(lab, here, "reader", environment);
    for (const who of [somebody("reader"), everywhere, here]) {
      expect(await readable(who)).toMatchObject({ all: true, tableIds: [] });
    }
  });

  test("T11 lists what grants open, each once, and not what is its own, dropped or elsewhere", async () => {
    const who = somebody();
    const place = () => newPlace(environment);
    const [a, b, gone] = [
      await liveTable(lab, place()),
      await stagedTable(lab, place()),
      await liveTable(lab, place()),
    ];
    const elsewhere = await liveTable(lab, newPlace(await newEnvironment(lab)));
    await grant(lab, a, who, "read", "write", "drop");
    await grant(lab, b, who, "drop");
    await grant(lab, gone, who, "read");
    await grant(lab, elsewhere, who, "read");
    await lab.as(ANA).dropTable(tableById(gone.tableId));
    expect(await readable(who)).toMatchObject({
      all: false,
      tableIds: [a.tableId, b.tableId].sort(),
    });
    expect(await readable(person("ana"))).toMatchObject({ all: false, tableIds: [] });
    await lab.as(ANA).undropTable(tableById(gone.tableId));
    expect((await readable(who)).tableIds).toContain(gone.tableId);
  });

  test("refuses who has nothing there, the same for an environment that is not there", async () => {
    const who = somebody();
    for (const id of [environmentId, newId()]) {
      await expect(readable(who, id)).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
      expect(await refusals(lab, id, who)).toHaveLength(1);
    }
    const stranger: Principal = { ...somebody("admin"), tenant: "other" };
    await expect(readable(stranger)).rejects.toMatchObject({ reason: "ENVIRONMENT_NOT_FOUND" });
  });

  test("says all to a service that acts for nobody", async () => {
    expect(await service().getReadableTables({ environmentId })).toMatchObject({ all: true });
  });
});

describe("GetTenantRights", () => {
  const ALL = [...RIGHTS].sort();
  const rightsOf = async (principal?: Principal) =>
    (await service().getTenantRights({}, principal && { principal })).rights;

  test("T6 adds the roles bound in the tenant to those of the token, and takes them back at once", async () => {
    const who = somebody("reader");
    expect(await rightsOf(who)).toEqual(["table.read"]);
    await bind(lab, who, "admin");
    expect(await rightsOf(who)).toEqual(ALL);
    await lab
      .access(person("root", "superadmin"))
      .revokeRole({ subject: who.subject, role: "admin" });
    expect(await rightsOf(who)).toEqual(["table.read"]);
  });

  test("T6 is everything for an admin's token and for a service that acts for nobody", async () => {
    expect(await rightsOf(somebody("admin"))).toEqual(ALL);
    expect(await rightsOf()).toEqual(ALL);
  });

  test.each(["admin", "superadmin"] as const)(
    "T6 is nothing by being %s of an environment, by a grant or by ownership",
    async (role: Role) => {
      const who = somebody();
      await bind(lab, who, role, environment);
      await grant(lab, await liveTable(lab, newPlace(environment)), who, "write", "drop");
      expect(await rightsOf(who)).toEqual([]);
      expect(await rightsOf(person("ana"))).toEqual([]);
    },
  );

  test("T27 a role bound in one tenant gives its namesake in another nothing", async () => {
    const who = somebody();
    await bind(lab, who, "admin");
    expect(await rightsOf({ ...who, tenant: "other" })).toEqual([]);
  });

  test("T6 a role bound to an API key counts like a person's", async () => {
    const key: Principal = { ...somebody(), subject: `key:${newId()}`, kind: "key" };
    await bind(lab, key, "writer");
    expect(await rightsOf(key)).toEqual(["table.read", "table.write"]);
  });
});

describe("RecordRefusal", () => {
  const refusal = (patch = {}) => ({
    right: "table.write",
    resourceKind: "table",
    resourceId: newId(),
    resourceName: "bronze.trial",
    resourceEnvironment: environment,
    method: "POST /api/v1/activity",
    ...patch,
  });

  test("records what another service refused, for whom it refused it", async () => {
    const [who, given] = [somebody("reader"), refusal()];
    await service().recordRefusal(given, { principal: who });
    expect(await refusals(lab, given.resourceId, who)).toMatchObject([
      {
        type: "AUTHORIZATION_DENIED",
        tenant: "local",
        outcome: "DECISION_OUTCOME_REFUSED",
        reason: "right_missing",
        resource: { kind: "table", name: "bronze.trial", environment },
        details: {
          right: "table.write",
          method: "POST /api/v1/activity",
          refused_by: SERVICE_PRINCIPAL.subject,
        },
      },
    ]);
  });

  test("records nothing for a service itself, and nothing that is too long", async () => {
    const given = refusal();
    const errors = await eachRefused([
      service().recordRefusal(given),
      service().recordRefusal(refusal({ right: "" }), { principal: somebody() }),
      service().recordRefusal(refusal({ resourceName: "x".repeat(513) }), {
        principal: somebody(),
      }),
    ]);
    for (const error of errors) expect(error).toMatchObject({ kind: "invalid" });
    expect(await lab.decisions(given.resourceId)).toEqual([]);
  });
});

test("methods for services answer nobody else, whatever their role, and record that", async () => {
  const who = somebody("superadmin");
  const errors = await eachRefused([
    lab.access(who).getReadableTables({ environmentId }),
    lab.access(who).getTenantRights({}),
    lab.access(who).recordRefusal({ right: "x", resourceKind: "table" }),
    lab.access(who).authenticateApiKey({ token: "" }),
  ]);
  for (const error of errors) {
    expect(error).toMatchObject({ kind: "denied", reason: "SERVICE_REQUIRED" });
  }
  for (const method of [
    "GetReadableTables",
    "GetTenantRights",
    "RecordRefusal",
    "AuthenticateApiKey",
  ]) {
    const id = `lapse.catalog.v1.AccessService/${method}`;
    expect(await refusals(lab, id, who)).toMatchObject([{ resource: { kind: "method" } }]);
  }
});
