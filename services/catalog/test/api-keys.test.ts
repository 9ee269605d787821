import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Principal, type Role, withTransaction } from "@lapse/kit";
import type { CreateApiKeyResponse } from "@lapse/proto/catalog";
import { bind, eachRefused, person, ROOT, refusals, somebody } from "./lab/access.ts";
import { aName, DAY_MS, type Lab, openLab, SERVICE_PRINCIPAL } from "./lab/lab.ts";
import { present } from "./lab/tables.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("catalog-api-keys");
});
afterAll(() => lab.close());

const MINUTE_MS = 60_000;
const create = (by: Principal, roles: string[] = [], patch = {}) =>
  lab.access(by).createApiKey({ name: "nightly export", roles, ...patch });
const authenticate = (token: string, by: Principal = SERVICE_PRINCIPAL) =>
  lab.access(by).authenticateApiKey({ token });
const revoke = (by: Principal, { key }: CreateApiKeyResponse) =>
  lab.access(by).revokeApiKey({ keyId: present(key).keyId });
const idOf = ({ key }: CreateApiKeyResponse) => present(key).keyId;
const keyOf = async (by: Principal, created: CreateApiKeyResponse) =>
  present(
    (await lab.access(by).listApiKeys({ limit: 1000 })).keys.find(
      ({ keyId }) => keyId === idOf(created),
    ),
  );

describe("CreateApiKey", () => {
  test("makes a key for 90 days unless said, with a decision, and shows its token once", async () => {
    const maker = somebody("writer");
    const created = await create(maker, ["reader", "writer", "reader"]);
    const key = present(created.key);
    expect(created.token).toMatch(/^lapse_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/);
    expect(created.token).toContain(key.keyId.replaceAll("-", ""));
    expect(key).toMatchObject({
      name: "nightly export",
      subject: `key:${key.keyId}`,
      roles: ["reader", "writer"],
      createdBy: maker.subject,
      revokedBy: "",
    });
    const [at, until] = [present(key.createdAt), present(key.expiresAt)].map(timestampDate);
    expect(present(until).getTime() - present(at).getTime()).toBe(90 * DAY_MS);
    expect(key.lastUsedAt).toBeUndefined();
    expect(await lab.decisions(key.keyId)).toMatchObject([
      {
        type: "API_KEY_CREATED",
        actor: maker.subject,
        resource: { kind: "api_key", name: "nightly export" },
        details: { roles: ["reader", "writer"] },
      },
    ]);
  });

  test("stores and records nothing from which the secret could be had", async () => {
    const { token } = await create(ROOT, [], { name: "secret" });
    const secret = token.slice(-43);
    const { rows: tables } = await lab.deps.pool.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_schema in ('public', 'lapse_kit') and table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const { rows } = await lab.deps.pool.query<{ found: boolean }>(
        `select exists (select from ${name} t where t::text like '%' || $1 || '%'
           or t::text like '%' || $2 || '%') as found`,
        [secret, Buffer.from(secret).toString("hex")],
      );
      expect([name, rows[0]?.found]).toEqual([name, false]);
    }
  });

  test.each<[Role[], Role | undefined, Role[]]>([
    [["reader"], undefined, ["writer"]],
    [["data_engineer"], undefined, ["admin"]],
    [["admin"], undefined, ["reader", "superadmin"]],
    [[], undefined, ["reader"]],
    [["writer"], "admin", ["superadmin"]],
  ])(
    "T6 refuses who has %j and bound %s a key with %j, and records it",
    async (own, bound, roles) => {
      const maker = somebody(...own);
      if (bound) await bind(lab, maker, bound);
      await expect(create(maker, roles)).rejects.toMatchObject({
        kind: "denied",
        reason: "RIGHT_MISSING",
      });
      expect(await refusals(lab, "", maker)).toMatchObject([{ resource: { kind: "api_key" } }]);
      const { keys } = await lab.access(maker).listApiKeys({ limit: 1000 });
      expect(keys.filter(({ createdBy }) => createdBy === maker.subject)).toEqual([]);
    },
  );

  test("T6 a bound role of the tenant counts for its maker, one of an environment does not", async () => {
    const maker = somebody();
    await lab.as(ROOT).createEnvironment({ name: "keys" });
    await bind(lab, maker, "admin", "keys");
    await expect(create(maker, ["reader"])).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
    await bind(lab, maker, "writer");
    await create(maker, ["writer"]);
  });

  test("T6 who has nothing may make a key that has nothing, and a key makes none", async () => {
    await create(somebody());
    const key: Principal = { ...somebody("superadmin"), kind: "key" };
    await expect(create(key)).rejects.toMatchObject({ kind: "denied" });
    expect(await refusals(lab, "", key)).toHaveLength(1);
  });

  test.each([
    [{ name: "" }, "/name"],
    [{ name: "a\nb" }, "/name"],
    [{ name: "x".repeat(101) }, "/name"],
    [{ expiresInDays: -1 }, "/expires_in_days"],
    [{ expiresInDays: 366 }, "/expires_in_days"],
    [{ roles: ["reader", "emperor"] }, "/roles/1"],
  ])("refuses %j", async (patch, field) => {
    await expect(create(ROOT, [], patch)).rejects.toMatchObject({ violations: [{ field }] });
  });

  test("makes one key for one idempotency key, and tells a repeat which, without its token", async () => {
    const options = { idempotencyKey: aName() };
    const request = { name: "once", roles: ["reader"] };
    const attempts = await Promise.allSettled(
      [1, 2, 3].map(() => lab.access(ROOT).createApiKey(request, options)),
    );
    const made = attempts.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(made).toHaveLength(1);
    const keyId = idOf(present(made[0]));
    for (const each of attempts.filter(({ status }) => status === "rejected")) {
      expect(each).toMatchObject({
        reason: {
          kind: "already_exists",
          reason: "KEY_ALREADY_CREATED",
          details: { key_id: keyId },
        },
      });
    }
    await authenticate(present(made[0]).token);
    const { keys } = await lab.access(ROOT).listApiKeys({ limit: 1000 });
    expect(keys.filter(({ name }) => name === "once")).toHaveLength(1);
  });

  test("makes at most 100 usable keys for one maker; revoked and expired ones do not count", async () => {
    const maker = somebody("reader");
    const first = await create(maker);
    await lab.deps.pool.query(
      `insert into api_key (key_id, tenant, name, roles, secret_hash, created_by, created_at, expires_at)
       select gen_random_uuid(), tenant, name, roles, secret_hash, created_by, created_at, expires_at
       from api_key, generate_series(1, 98) where key_id = $1`,
      [idOf(first)],
    );
    const attempts = await Promise.allSettled([create(maker), create(maker)]);
    expect(attempts.filter(({ status }) => status === "rejected")).toMatchObject([
      { reason: { kind: "exhausted", reason: "TOO_MANY_KEYS" } },
    ]);
    await revoke(maker, first);
    await create(maker);
  });
});

describe("AuthenticateApiKey", () => {
  test("gives the principal that a key stands for", async () => {
    const created = await create(ROOT, ["writer"], { expiresInDays: 1 });
    const { principal, expiresAt } = await authenticate(created.token);
    expect(principal).toMatchObject({
      subject: `key:${idOf(created)}`,
      tenant: "local",
      roles: ["writer"],
      kind: 3,
    });
    expect(expiresAt).toEqual(created.key?.expiresAt);
  });

  test("answers services only, whatever their role, and records the refusal", async () => {
    const { token } = await create(ROOT);
    const who = somebody("superadmin");
    await expect(authenticate(token, who)).rejects.toMatchObject({ kind: "denied" });
    const method = "lapse.catalog.v1.AccessService/AuthenticateApiKey";
    expect(await refusals(lab, method, who)).toHaveLength(1);
  });

  test("takes no other token for a key's, and records nothing of it", async () => {
    const [a, b] = [await create(ROOT), await create(ROOT)];
    const before = await countDecisions();
    const wrong = [
      "",
      "lapse_",
      `${a.token}x`,
      a.token.slice(0, -1),
      a.token.toUpperCase(),
      `${a.token.slice(0, -43)}${b.token.slice(-43)}`,
      `lapse_${"0".repeat(32)}_${a.token.slice(-43)}`,
      `lapse_${"'".repeat(32)}_${a.token.slice(-43)}`,
    ];
    for (const error of await eachRefused(wrong.map((token) => authenticate(token)))) {
      expect(error).toMatchObject({ kind: "unauthenticated", reason: "TOKEN_INVALID" });
    }
    expect(await countDecisions()).toBe(before);
  });

  test("refuses an expired key, and records that once a minute", async () => {
    const created = await create(ROOT, [], { expiresInDays: 1 });
    await authenticate(created.token);
    await lab.timePasses(DAY_MS);
    const use = () => authenticate(created.token);
    for (const error of await eachRefused([use(), use(), use()])) {
      expect(error).toMatchObject({ kind: "unauthenticated", reason: "KEY_EXPIRED" });
    }
    const subject = { subject: `key:${idOf(created)}` };
    expect(await refusals(lab, idOf(created), subject)).toMatchObject([
      {
        reason: "key_expired",
        tenant: "local",
        resource: { kind: "api_key" },
        outcome: "DECISION_OUTCOME_REFUSED",
      },
    ]);
    await lab.timePasses(MINUTE_MS);
    await eachRefused([use(), use()]);
    expect(await refusals(lab, idOf(created), subject)).toHaveLength(2);
  });

  test("accepts the same key a moment before it expires", async () => {
    const created = await create(ROOT, [], { expiresInDays: 1 });
    await lab.timePasses(DAY_MS - MINUTE_MS);
    await authenticate(created.token);
  });

  test("refuses a revoked key as that, also once it has expired, and only with its secret", async () => {
    const created = await create(ROOT);
    await revoke(ROOT, created);
    await expect(authenticate(created.token)).rejects.toMatchObject({ reason: "KEY_REVOKED" });
    await lab.timePasses(91 * DAY_MS);
    await expect(authenticate(created.token)).rejects.toMatchObject({ reason: "KEY_REVOKED" });
    const guessed = `${created.token.slice(0, -4)}AAAA`;
    await expect(authenticate(guessed)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
    const subject = { subject: `key:${idOf(created)}` };
    expect(await refusals(lab, idOf(created), subject)).toMatchObject([
      { reason: "key_revoked" },
      { reason: "key_revoked" },
    ]);
  });

  test("notes the last use to the minute, without writing at every call", async () => {
    const created = await create(ROOT);
    await authenticate(created.token);
    const first = present((await keyOf(ROOT, created)).lastUsedAt);
    const version = async () => {
      const { rows } = await lab.deps.pool.query<{ xmin: string }>(
        "select xmin::text from api_key where key_id = $1",
        [idOf(created)],
      );
      return rows[0]?.xmin;
    };
    const written = await version();
    await Promise.all([authenticate(created.token), authenticate(created.token)]);
    expect(await version()).toBe(written);
    await lab.timePasses(MINUTE_MS);
    await authenticate(created.token);
    expect(
      timestampDate(present((await keyOf(ROOT, created)).lastUsedAt)).getTime(),
    ).toBeGreaterThanOrEqual(timestampDate(first).getTime());
    expect(await version()).not.toBe(written);
  });

  test("is not held up by a transaction that changes the key", async () => {
    const created = await create(ROOT);
    await authenticate(created.token);
    await withTransaction(lab.deps.pool, async (tx) => {
      await tx.query("select from api_key where key_id = $1 for update", [idOf(created)]);
      await authenticate(created.token);
    });
  });

  const countDecisions = async () => {
    const { rows } = await lab.deps.pool.query<{ count: bigint }>(
      "select count(*) as count from lapse_kit.outbox where stream = 'DECISION'",
    );
    return rows[0]?.count;
  };
});

describe("RevokeApiKey", () => {
  test("T6 its maker revokes it, or an admin; once, with a decision", async () => {
    const maker = somebody("reader");
    const [own, other] = [await create(maker), await create(maker)];
    const first = await revoke(maker, own);
    expect(first.key).toMatchObject({ revokedBy: maker.subject });
    expect(await revoke(ROOT, own)).toEqual(first);
    expect((await revoke(ROOT, other)).key).toMatchObject({ revokedBy: "root" });
    expect((await lab.decisions(idOf(own))).map(({ type }) => type)).toEqual([
      "API_KEY_CREATED",
      "API_KEY_REVOKED",
    ]);
  });

  test("T6 tells others the same of a key that is there and one that is not", async () => {
    const created = await create(ROOT);
    const who = somebody("data_engineer");
    const missing = "01900000-0000-7000-8000-000000000000";
    const errors = await eachRefused(
      [idOf(created), missing].map((keyId) => lab.access(who).revokeApiKey({ keyId })),
    );
    expect(errors.map(({ message }) => message.replace(/[0-9a-f-]{36}/, "IT"))).toEqual([
      present(errors[0]).message.replace(/[0-9a-f-]{36}/, "IT"),
      present(errors[0]).message.replace(/[0-9a-f-]{36}/, "IT"),
    ]);
    expect(await refusals(lab, idOf(created), who)).toHaveLength(1);
    expect(await refusals(lab, missing, who)).toHaveLength(1);
    await authenticate(created.token);
    await expect(lab.access(ROOT).revokeApiKey({ keyId: missing })).rejects.toMatchObject({
      reason: "KEY_NOT_FOUND",
    });
  });

  test("knows no key of another tenant, whoever asks", async () => {
    const created = await create(ROOT);
    const stranger: Principal = { ...somebody("superadmin"), tenant: "other" };
    // The same subject there is somebody else.
    const namesake: Principal = { ...person("root"), tenant: "other" };
    await expect(revoke(stranger, created)).rejects.toMatchObject({ reason: "KEY_NOT_FOUND" });
    await expect(revoke(namesake, created)).rejects.toMatchObject({ reason: "RIGHT_MISSING" });
    await authenticate(created.token);
  });
});

describe("ListApiKeys", () => {
  test("T6 shows an admin all of the tenant and others their own, page by page, never a token", async () => {
    const maker = somebody("reader");
    const made = [];
    for (let index = 0; index < 5; index++) made.push(idOf(await create(maker)));
    await create(somebody());
    const all: string[] = [];
    let cursor = "";
    do {
      const page = await lab.access(maker).listApiKeys({ limit: 2, cursor });
      all.push(...page.keys.map(({ keyId }) => keyId));
      cursor = page.nextCursor;
    } while (cursor);
    expect(all).toEqual(made);
    const { keys } = await lab.access(ROOT).listApiKeys({ limit: 1000 });
    expect(keys.map(({ keyId }) => keyId)).toEqual(expect.arrayContaining(made));
    expect(
      JSON.stringify(keys, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain("lapse_");
    const stranger: Principal = { ...somebody("admin"), tenant: "other" };
    expect((await lab.access(stranger).listApiKeys({})).keys).toEqual([]);
  });
});
