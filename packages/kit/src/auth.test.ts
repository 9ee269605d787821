import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "@jest/globals";
import { AuthenticateApiKeyResponseSchema } from "@lapse/proto/catalog";
import { exportJWK, type JWTPayload, SignJWT } from "jose";
import { apiKeysOf } from "./api-keys.ts";
import { createAuthenticator } from "./auth.ts";
import { unauthenticated } from "./errors.ts";
import type { Principal } from "./principal.ts";

const keys = generateKeyPairSync("ed25519");
const publicKey = spki(keys.publicKey);
const CLAIMS = { tenant: "acme", roles: ["reader", "emperor"], kind: "person" };

function spki(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}

interface Sign {
  readonly claims?: JWTPayload;
  readonly key?: KeyObject;
  readonly alg?: string;
  readonly kid?: string;
  readonly expires?: string | number;
  readonly notBefore?: string | number;
  readonly audience?: string;
  readonly issuer?: string;
  readonly subject?: string;
}

async function sign({ claims = CLAIMS, key = keys.privateKey, ...to }: Sign = {}): Promise<string> {
  const { alg = "EdDSA", kid, expires = "1h", subject = "ana", ...more } = to;
  const jwt = new SignJWT(claims).setProtectedHeader(kid === undefined ? { alg } : { alg, kid });
  jwt.setSubject(subject).setExpirationTime(expires);
  if (more.audience !== undefined) jwt.setAudience(more.audience);
  if (more.issuer !== undefined) jwt.setIssuer(more.issuer);
  if (more.notBefore !== undefined) jwt.setNotBefore(more.notBefore);
  return jwt.sign(key);
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("with a public key", () => {
  const authenticate = createAuthenticator({ publicKey });
  const INVALID = { kind: "unauthenticated", reason: "TOKEN_INVALID" };

  test("a valid token stands for its principal, with the roles that are known", async () => {
    expect(await authenticate(await sign())).toEqual({
      subject: "ana",
      tenant: "acme",
      roles: ["reader"],
      kind: "person",
    });
  });

  test("the kind is a person where the token does not say, and roles may be missing", async () => {
    const token = await sign({ claims: { tenant: "acme" } });
    expect(await authenticate(token)).toMatchObject({ kind: "person", roles: [] });
  });

  test("a service's token is one of the tenant *", async () => {
    const token = await sign({ claims: { tenant: "*", kind: "service" }, subject: "catalog" });
    expect(await authenticate(token)).toMatchObject({ subject: "catalog", kind: "service" });
  });

  test.each<[string, Sign]>([
    ["no tenant", { claims: { roles: [] } }],
    ["an empty tenant", { claims: { tenant: "" } }],
    ["every tenant, for a person", { claims: { tenant: "*" } }],
    ["one tenant, for a service", { claims: { tenant: "acme", kind: "service" } }],
    ["an unknown kind", { claims: { tenant: "acme", kind: "root" } }],
    ["roles that are no list", { claims: { tenant: "acme", roles: "admin" } }],
    ["an empty subject", { subject: "" }],
  ])("a token with %s is refused", async (_, options) => {
    await expect(authenticate(await sign(options))).rejects.toMatchObject({
      ...INVALID,
      message: expect.stringContaining("claims"),
    });
  });

  test("a token without a subject is refused", async () => {
    const jwt = new SignJWT(CLAIMS).setProtectedHeader({ alg: "EdDSA" }).setExpirationTime("1h");
    await expect(authenticate(await jwt.sign(keys.privateKey))).rejects.toMatchObject(INVALID);
  });

  test("alg none is refused", async () => {
    const body = base64url({ ...CLAIMS, sub: "ana", exp: 4_000_000_000 });
    for (const alg of ["none", "None", "NONE"]) {
      await expect(authenticate(`${base64url({ alg })}.${body}.`)).rejects.toMatchObject(INVALID);
    }
  });

  test("HS256 with the public key as the secret is refused", async () => {
    const head = base64url({ alg: "HS256", typ: "JWT" });
    const signed = `${head}.${base64url({ ...CLAIMS, sub: "ana", exp: 4_000_000_000 })}`;
    const mac = createHmac("sha256", publicKey).update(signed).digest("base64url");
    await expect(authenticate(`${signed}.${mac}`)).rejects.toMatchObject(INVALID);
  });

  test("a token signed by another key, or under another algorithm, is refused", async () => {
    const other = generateKeyPairSync("ed25519").privateKey;
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
    for (const token of [await sign({ key: other }), await sign({ key: rsa, alg: "RS256" })]) {
      await expect(authenticate(token)).rejects.toMatchObject(INVALID);
    }
  });

  test("a tampered token is refused, whichever part was changed", async () => {
    const [head, , signature] = (await sign()).split(".");
    const forged = base64url({ ...CLAIMS, roles: ["superadmin"], sub: "ana", exp: 4_000_000_000 });
    const flipped = (await sign()).replace(/.$/, (last) => (last === "A" ? "Q" : "A"));
    for (const token of [`${head}.${forged}.${signature}`, flipped]) {
      await expect(authenticate(token)).rejects.toMatchObject(INVALID);
    }
  });

  test("an expired token is refused as that, but not within the clock's tolerance", async () => {
    const now = Math.floor(Date.now() / 1_000);
    await expect(authenticate(await sign({ expires: now - 60 }))).rejects.toMatchObject({
      kind: "unauthenticated",
      reason: "TOKEN_EXPIRED",
    });
    expect(await authenticate(await sign({ expires: now - 2 }))).toMatchObject({ subject: "ana" });
  });

  test("a token that is not valid yet is refused", async () => {
    const notBefore = Math.floor(Date.now() / 1_000) + 60;
    await expect(authenticate(await sign({ notBefore }))).rejects.toMatchObject(INVALID);
  });

  test.each(["", "garbage", "a.b.c", "....", "🙂", "x".repeat(10_000), `${"a".repeat(8_000)}.b.c`])(
    "garbage is refused: %.20s",
    async (token) => {
      await expect(authenticate(token)).rejects.toMatchObject(INVALID);
    },
  );
});

describe("issuer and audience", () => {
  const authenticate = createAuthenticator({ publicKey, issuer: "id", audience: "lapse" });

  test("are required where they are configured", async () => {
    const token = await sign({ issuer: "id", audience: "lapse" });
    expect(await authenticate(token)).toMatchObject({ subject: "ana" });
  });

  test.each<[string, Sign]>([
    ["another audience", { issuer: "id", audience: "other" }],
    ["no audience", { issuer: "id" }],
    ["another issuer", { issuer: "elsewhere", audience: "lapse" }],
    ["no issuer", { audience: "lapse" }],
  ])("a token with %s is refused", async (_, options) => {
    await expect(authenticate(await sign(options))).rejects.toMatchObject({
      kind: "unauthenticated",
      reason: "TOKEN_INVALID",
    });
  });

  test("are not looked at where they are not configured", async () => {
    const token = await sign({ issuer: "elsewhere", audience: "other" });
    expect(await createAuthenticator({ publicKey })(token)).toMatchObject({ subject: "ana" });
  });
});

describe("algorithms", () => {
  test.each([
    ["ES256", () => generateKeyPairSync("ec", { namedCurve: "prime256v1" })],
    ["RS256", () => generateKeyPairSync("rsa", { modulusLength: 2_048 })],
    ["PS256", () => generateKeyPairSync("rsa", { modulusLength: 2_048 })],
  ])("%s is accepted", async (alg, generate) => {
    const pair = generate();
    const authenticate = createAuthenticator({ publicKey: spki(pair.publicKey) });
    const token = await sign({ key: pair.privateKey, alg });
    expect(await authenticate(token)).toMatchObject({ subject: "ana" });
  });

  test("one that is not on the list is refused, however well it is signed", async () => {
    const pair = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const authenticate = createAuthenticator({ publicKey: spki(pair.publicKey) });
    const token = await sign({ key: pair.privateKey, alg: "RS512" });
    await expect(authenticate(token)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });
});

describe("with a JWKS URL", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
  });

  /** A key server; what it answers can be changed. */
  async function keyServer(answer: { status: number; body: string }) {
    let asked = 0;
    server = createServer((_, response) => {
      asked++;
      response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { jwksUrl: `http://127.0.0.1:${port}/keys`, asked: () => asked };
  }
  const published = async (kid: string) =>
    JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg: "EdDSA" }] });

  test("the key that the token names is used, and kept", async () => {
    const { jwksUrl, asked } = await keyServer({ status: 200, body: await published("k1") });
    const authenticate = createAuthenticator({ jwksUrl });
    for (const subject of ["ana", "ben"]) {
      const token = await sign({ kid: "k1", subject });
      expect(await authenticate(token)).toMatchObject({ subject });
    }
    expect(asked()).toBe(1);
  });

  test("a token under a key that is not published is refused", async () => {
    const { jwksUrl } = await keyServer({ status: 200, body: await published("k1") });
    await expect(createAuthenticator({ jwksUrl })(await sign({ kid: "k2" }))).rejects.toMatchObject(
      { kind: "unauthenticated", reason: "TOKEN_INVALID" },
    );
  });

  test.each([
    [500, "{}"],
    [200, "no json"],
    [200, '{"keys": 1}'],
  ])("keys that cannot be had (%d %s) say nothing about the token", async (status, body) => {
    const answer = { status, body };
    const { jwksUrl } = await keyServer(answer);
    const authenticate = createAuthenticator({ jwksUrl });
    const token = await sign({ kid: "k1" });
    await expect(authenticate(token)).rejects.toMatchObject({
      kind: "unavailable",
      reason: "KEYS_UNAVAILABLE",
    });
    Object.assign(answer, { status: 200, body: await published("k1") });
    expect(await authenticate(token)).toMatchObject({ subject: "ana" });
  });

  test("a key server that is away is unavailable too", async () => {
    const { jwksUrl } = await keyServer({ status: 200, body: "" });
    server?.close();
    await expect(createAuthenticator({ jwksUrl })(await sign())).rejects.toMatchObject({
      kind: "unavailable",
    });
  });
});

test("exactly one source of keys is needed", () => {
  expect(() => createAuthenticator({})).toThrow(/exactly one/);
  expect(() => createAuthenticator({ publicKey, jwksUrl: "http://x/" })).toThrow(/exactly one/);
});

describe("with API keys", () => {
  const KEY: Principal = { subject: "key:1", tenant: "acme", roles: [], kind: "key" };
  const verified = (principal: Principal = KEY) => ({ principal, expiresAt: Date.now() + 60_000 });

  test("a token that begins as a key does is verified as one, and remembered", async () => {
    const asked: string[] = [];
    const authenticate = createAuthenticator(
      { publicKey },
      {
        apiKeys: async (token) => {
          asked.push(token);
          return verified();
        },
      },
    );
    expect(await authenticate("lapse_1_secret")).toEqual(KEY);
    expect(await authenticate("lapse_1_secret")).toEqual(KEY);
    expect(asked).toEqual(["lapse_1_secret"]);
    expect(await authenticate(await sign())).toMatchObject({ subject: "ana" });
  });

  test("what refuses a key is what the caller hears", async () => {
    const apiKeys = async () => Promise.reject(unauthenticated("KEY_EXPIRED", "it has expired"));
    const authenticate = createAuthenticator({ publicKey }, { apiKeys });
    await expect(authenticate("lapse_1_secret")).rejects.toMatchObject({ reason: "KEY_EXPIRED" });
  });

  test("where no keys are known, one is a token like any other, and a bad one", async () => {
    const authenticate = createAuthenticator({ publicKey });
    await expect(authenticate("lapse_1_secret")).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });

  test.each([
    ["kind", sign({ claims: { tenant: "acme", kind: "key" } })],
    ["subject", sign({ subject: "key:1" })],
  ])("a JWT cannot pass for a key by its %s", async (_, token) => {
    const authenticate = createAuthenticator({ publicKey });
    await expect(authenticate(await token)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });
});

describe("the catalog's answer about a key", () => {
  const answer = (principal?: object, expiresAt = { seconds: 4_000_000_000n, nanos: 0 }) =>
    apiKeysOf({
      authenticateApiKey: async () =>
        create(AuthenticateApiKeyResponseSchema, { ...(principal && { principal }), expiresAt }),
    })("lapse_1_secret");

  test("is the key's principal, until the key's expiry", async () => {
    const principal = { subject: "key:1", tenant: "acme", roles: ["reader"] };
    expect(await answer(principal)).toEqual({
      principal: { ...principal, kind: "key" },
      expiresAt: 4_000_000_000_000,
    });
  });

  test.each([
    ["nobody", undefined],
    ["somebody else", { subject: "ana", tenant: "acme" }],
    ["a service", { subject: "key:1", tenant: "*" }],
  ])("is not accepted when it names %s", async (_, principal) => {
    await expect(answer(principal)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });
});
