import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Environment } from "@lapse/proto/catalog";
import { aName, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("catalog-environments");
});
afterAll(() => lab.close());

const anName = () => aName().replace("t_", "env-");
const byName = (name: string) => ({ environment: { ref: { case: "name", value: name } } }) as const;
const byId = (value: string) =>
  ({ environment: { ref: { case: "environmentId", value } } }) as const;

async function created(name = anName()): Promise<Environment> {
  const { environment } = await lab.asPerson("root", "admin").createEnvironment({ name });
  if (!environment) throw new Error("no environment in the answer");
  return environment;
}

describe("CreateEnvironment", () => {
  test("gives the environment, with its bucket, its event and its decision", async () => {
    const environment = await created();
    expect(environment).toMatchObject({
      tenant: "local",
      protected: false,
      changeVersion: 1n,
      policyVersion: 0n,
      tableBucket: `local--${environment.name}`,
      createdBy: "root",
    });
    expect(await lab.store.bucketExists(environment.tableBucket)).toBe(true);
    expect(await lab.events(environment.environmentId)).toMatchObject([
      {
        subject: "catalog.environment.created",
        message: { environment: { name: environment.name }, actor: "root" },
      },
    ]);
    expect(await lab.decisions(environment.environmentId)).toMatchObject([
      { type: "ENVIRONMENT_CREATED", actor: "root", outcome: "DECISION_OUTCOME_DONE" },
    ]);
  });

  test("refuses a name that is taken, in its own tenant only", async () => {
    const { name } = await created();
    await expect(created(name)).rejects.toMatchObject({
      kind: "already_exists",
      reason: "NAME_TAKEN",
    });
    const other = lab.as({ subject: "eve", tenant: "other", roles: ["admin"], kind: "person" });
    await expect(other.createEnvironment({ name })).resolves.toMatchObject({
      environment: { tenant: "other" },
    });
  });

  test("gives the first answer again to a repeat with the same idempotency key", async () => {
    const client = lab.asPerson("root", "admin");
    const request = { name: anName() };
    const options = { idempotencyKey: aName() };
    const first = await client.createEnvironment(request, options);
    expect(await client.createEnvironment(request, options)).toEqual(first);
    // Without the key the same call is another one.
    await expect(client.createEnvironment(request)).rejects.toMatchObject({ reason: "NAME_TAKEN" });
    await expect(client.createEnvironment({ name: anName() }, options)).rejects.toMatchObject({
      reason: "IDEMPOTENCY_KEY_REUSED",
    });
  });

  test("refuses bad names and says what is allowed", async () => {
    for (const name of [
      "",
      "Dev",
      "a b",
      "a/b",
      "..",
      "a'; drop table environment; --",
      "a".repeat(64),
    ]) {
      await expect(created(name)).rejects.toMatchObject({
        kind: "invalid",
        violations: [{ field: "/name", description: expect.stringContaining("lower-case") }],
      });
    }
  });

  test("refuses whoever may not manage environments, and records that", async () => {
    const name = anName();
    const client = lab.asPerson("una", "data_engineer");
    await expect(client.createEnvironment({ name })).rejects.toMatchObject({ kind: "denied" });
    expect(await lab.decisions("")).toContainEqual(
      expect.objectContaining({
        type: "AUTHORIZATION_DENIED",
        actor: "una",
        outcome: "DECISION_OUTCOME_REFUSED",
        resource: { kind: "environment", name },
        details: expect.objectContaining({ right: "environment.manage" }),
      }),
    );
  });

  test("needs a tenant whose handle can name a bucket", async () => {
    const admin = (tenant: string) =>
      lab.as({ subject: "x", tenant, roles: ["admin"], kind: "person" });
    await expect(admin("A/../B").createEnvironment({ name: anName() })).rejects.toMatchObject({
      reason: "TENANT_UNFIT",
    });
    await expect(
      lab.as(SERVICE_PRINCIPAL).createEnvironment({ name: anName() }),
    ).rejects.toMatchObject({
      reason: "TENANT_REQUIRED",
    });
  });

  test("stores nothing when the object store cannot make the bucket", async () => {
    const name = anName();
    lab.store.interfere((verb) => {
      if (verb === "createBucket") throw new Error("the disk is full");
    });
    await expect(created(name)).rejects.toMatchObject({ kind: "internal" });
    lab.store.interfere();
    const client = lab.asPerson("root", "admin");
    await expect(client.getEnvironment(byName(name))).rejects.toMatchObject({ kind: "not_found" });
    await expect(created(name)).resolves.toMatchObject({ name });
  });
});

describe("GetEnvironment", () => {
  test("finds by name and by id, in the caller's tenant only", async () => {
    const environment = await created();
    const reader = lab.asPerson("rita", "reader");
    const seen = { ...environment, rights: ["table.read"] };
    expect((await reader.getEnvironment(byName(environment.name))).environment).toEqual(seen);
    expect((await reader.getEnvironment(byId(environment.environmentId))).environment).toEqual(
      seen,
    );
    const other = lab.as({
      subject: "eve",
      tenant: "other",
      roles: ["superadmin"],
      kind: "person",
    });
    for (const ref of [byName(environment.name), byId(environment.environmentId)]) {
      await expect(other.getEnvironment(ref)).rejects.toMatchObject({
        reason: "ENVIRONMENT_NOT_FOUND",
      });
    }
  });

  test("tells nobody without the right to read what exists and what does not", async () => {
    const environment = await created();
    const nobody = lab.as({ subject: "nil", tenant: "local", roles: [], kind: "person" });
    for (const name of [environment.name, anName()]) {
      await expect(nobody.getEnvironment(byName(name))).rejects.toMatchObject({ kind: "denied" });
    }
  });

  test("lets a service that acts for nobody find by id and not by name", async () => {
    const environment = await created();
    const service = lab.as(SERVICE_PRINCIPAL);
    await expect(service.getEnvironment(byId(environment.environmentId))).resolves.toBeDefined();
    await expect(service.getEnvironment(byName(environment.name))).rejects.toMatchObject({
      reason: "TENANT_REQUIRED",
    });
  });

  test.each([{}, byId("not-a-uuid"), byName("Not A Name")])("refuses %j", async (request) => {
    await expect(lab.asPerson("rita").getEnvironment(request)).rejects.toMatchObject({
      kind: "invalid",
      reason: "REQUEST_INVALID",
    });
  });
});

describe("ListEnvironments", () => {
  test("pages through a tenant's environments by name, each once", async () => {
    const as = (tenant: string) =>
      lab.as({ subject: "x", tenant, roles: ["admin"], kind: "person" });
    for (let index = 0; index < 7; index++) {
      await as("paging").createEnvironment({ name: `e${index}` });
    }
    const names: string[] = [];
    let cursor = "";
    do {
      const page = await as("paging").listEnvironments({ limit: 3, cursor });
      expect(page.environments.length).toBeLessThanOrEqual(3);
      names.push(...page.environments.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor);
    expect(names).toEqual(["e0", "e1", "e2", "e3", "e4", "e5", "e6"]);
    expect((await as("empty").listEnvironments({})).environments).toEqual([]);
    const all = await lab.as(SERVICE_PRINCIPAL).listEnvironments({ limit: 1000 });
    expect(new Set(all.environments.map(({ tenant }) => tenant)).size).toBeGreaterThan(1);
  });

  test.each([
    { limit: -1 },
    { limit: 1001 },
    { cursor: "x" },
    { cursor: Buffer.from('["live","a","b"]').toString("base64url") },
  ])("refuses %j", async (request) => {
    await expect(lab.asPerson("rita").listEnvironments(request)).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  test("refuses who may read nothing", async () => {
    const nobody = lab.as({ subject: "nil", tenant: "local", roles: [], kind: "person" });
    await expect(nobody.listEnvironments({})).rejects.toMatchObject({ kind: "denied" });
  });
});

describe("UpdateEnvironment", () => {
  test("T19 protects and unprotects, with event and decision, and leaves the policy version", async () => {
    const { environmentId, name } = await created();
    const client = lab.asPerson("root", "admin");
    const protect = (value: boolean) =>
      client.updateEnvironment({ ...byName(name), protected: value });
    expect((await protect(true)).environment).toMatchObject({
      protected: true,
      changeVersion: 2n,
      policyVersion: 0n,
    });
    expect((await protect(true)).environment).toMatchObject({ changeVersion: 2n });
    expect((await protect(false)).environment).toMatchObject({
      protected: false,
      changeVersion: 3n,
    });
    const types = (await lab.decisions(environmentId)).map(({ type }) => type);
    expect(types).toEqual([
      "ENVIRONMENT_CREATED",
      "ENVIRONMENT_PROTECTED",
      "ENVIRONMENT_UNPROTECTED",
    ]);
    expect((await lab.events(environmentId)).map(({ subject }) => subject)).toEqual([
      "catalog.environment.created",
      "catalog.environment.changed",
      "catalog.environment.changed",
    ]);
  });

  test("refuses whoever may not manage environments, and a request that changes nothing", async () => {
    const { name, environmentId } = await created();
    const engineer = lab.asPerson("una", "data_engineer");
    await expect(
      engineer.updateEnvironment({ ...byName(name), protected: true }),
    ).rejects.toMatchObject({ kind: "denied" });
    expect((await lab.decisions(environmentId)).at(-1)).toMatchObject({
      type: "AUTHORIZATION_DENIED",
    });
    await expect(
      lab.asPerson("root", "admin").updateEnvironment(byName(name)),
    ).rejects.toMatchObject({ kind: "invalid" });
  });
});

describe("TouchEnvironment", () => {
  test("T7 moves both versions together, also for a service, and decides nothing", async () => {
    const { environmentId } = await created();
    const touched = await lab.as(SERVICE_PRINCIPAL).touchEnvironment(byId(environmentId));
    expect(touched.environment).toMatchObject({ changeVersion: 2n, policyVersion: 2n });
    expect((await lab.decisions(environmentId)).map(({ type }) => type)).toEqual([
      "ENVIRONMENT_CREATED",
    ]);
    expect((await lab.events(environmentId)).at(-1)).toMatchObject({
      message: { environment: { policyVersion: "2" }, actor: "retention-policy" },
    });
  });

  test("loses none of many at once", async () => {
    const { environmentId } = await created();
    const client = lab.asPerson("root", "admin");
    const touches = await Promise.all(
      Array.from({ length: 10 }, () => client.touchEnvironment(byId(environmentId))),
    );
    const versions = touches.map(({ environment }) => environment?.policyVersion);
    expect(new Set(versions).size).toBe(10);
    const { environment } = await client.getEnvironment(byId(environmentId));
    expect(environment).toMatchObject({ changeVersion: 11n, policyVersion: 11n });
  });

  test("refuses whoever may not manage environments", async () => {
    const { environmentId } = await created();
    const client = lab.asPerson("una", "data_engineer");
    await expect(client.touchEnvironment(byId(environmentId))).rejects.toMatchObject({
      kind: "denied",
    });
  });
});
