import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  apiKeysOf,
  createAuthenticator,
  createLogger,
  denied,
  unauthenticated,
  unavailable,
} from "@lapse/kit";
import { PrincipalKind } from "@lapse/proto/common";
import { testTokens } from "@lapse/test-kit";
import { connectPeers } from "../src/peers.ts";
import { GATEWAY_TOKEN } from "./fake-services.ts";
import { type Harness, startHarness } from "./harness.ts";
import { aKey, at, OTHER_ID } from "./messages.ts";

const SECRET = "SECRETsecretSECRETsecretSECRETsecretSECRET1";
const TOKEN = `lapse_${"0".repeat(32)}_${SECRET}`;

describe("/api-keys", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  beforeEach(() => harness.reset());
  afterAll(() => harness.stop());

  const SHOWN = {
    id: OTHER_ID,
    name: "nightly load",
    subject: `key:${OTHER_ID}`,
    roles: ["writer"],
    created_by: "ana@example.org",
    created_at: "2026-11-30T12:00:00.000Z",
    expires_at: "2027-02-28T12:00:00.000Z",
    revoked_at: null,
    revoked_by: null,
    last_used_at: null,
  };

  test("makes a key; its token is in that answer alone, not stored on the way and in no log", async () => {
    harness.fakes.access.createApiKey = ({ name, roles, expiresInDays }, { idempotencyKey }) => {
      expect({ name, roles, expiresInDays, idempotencyKey }).toEqual({
        name: "nightly load",
        roles: ["writer"],
        expiresInDays: 30,
        idempotencyKey: "k",
      });
      return { key: aKey(), token: TOKEN };
    };
    const made = await harness.call("POST", "/api/v1/api-keys", {
      body: { name: "nightly load", roles: ["writer"], expires_in_days: 30 },
      headers: { "idempotency-key": "k" },
    });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({ ...SHOWN, token: TOKEN });
    expect(made.headers["cache-control"]).toBe("no-store");
    harness.fakes.access.listApiKeys = () => ({ keys: [aKey()] });
    expect((await harness.call("GET", "/api/v1/api-keys")).text).not.toContain(SECRET);
    expect(harness.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(harness.logged)).not.toContain(SECRET);
  });

  test("leaves the time and the roles to the catalog where they are not given", async () => {
    harness.fakes.access.createApiKey = ({ roles, expiresInDays }) => {
      expect({ roles, expiresInDays }).toEqual({ roles: [], expiresInDays: 0 });
      return { key: aKey({ roles: [] }), token: TOKEN };
    };
    const { json } = await harness.call("POST", "/api/v1/api-keys", { body: { name: "n" } });
    expect(json).toMatchObject({ roles: [] });
  });

  test("lists keys page by page, and revokes one", async () => {
    harness.fakes.access.listApiKeys = ({ limit, cursor }) => {
      expect({ limit, cursor }).toEqual({ limit: 5, cursor: "c" });
      return { keys: [aKey({ lastUsedAt: at("2026-11-30T12:01:00Z") })], nextCursor: "d" };
    };
    const list = await harness.call("GET", "/api/v1/api-keys?limit=5&cursor=c");
    expect(list.json).toEqual({
      items: [{ ...SHOWN, last_used_at: "2026-11-30T12:01:00.000Z" }],
      next_cursor: "d",
    });
    harness.fakes.access.revokeApiKey = ({ keyId }) => {
      expect(keyId).toBe(OTHER_ID);
      return { key: aKey({ revokedAt: at("2026-11-30T12:02:00Z"), revokedBy: "ana@example.org" }) };
    };
    const revoked = await harness.call("DELETE", `/api/v1/api-keys/${OTHER_ID}`);
    expect({ status: revoked.status, json: revoked.json }).toEqual({
      status: 200,
      json: {
        ...SHOWN,
        revoked_at: "2026-11-30T12:02:00.000Z",
        revoked_by: "ana@example.org",
      },
    });
  });

  test.each([
    [{}, ["#/name"]],
    [{ name: "" }, ["#/name"]],
    [{ name: "n", expires_in_days: 0 }, ["#/expires_in_days"]],
    [{ name: "n", expires_in_days: 366 }, ["#/expires_in_days"]],
    [{ name: "n", expires_in_days: "30d", roles: ["owner"] }, ["#/roles/0", "#/expires_in_days"]],
    [{ name: "n", token: "mine" }, ["#/token"]],
  ])("T10 refuses %j", async (body, pointers) => {
    const { status, json } = await harness.call("POST", "/api/v1/api-keys", { body });
    expect(status).toBe(400);
    expect(json.errors.map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

describe("an API key as bearer token", () => {
  /** Where the keys are known, and the gateway that asks there, as service.ts has it. */
  let keys: Harness;
  let gateway: Harness;
  let close: () => void;
  beforeAll(async () => {
    keys = await startHarness();
    const connected = connectPeers({
      urls: keys.urls,
      serviceToken: () => GATEWAY_TOKEN,
      log: createLogger({ service: "test", level: "silent" }),
    });
    close = connected.close;
    const { publicKey } = testTokens();
    const apiKeys = apiKeysOf(connected.peers.access);
    gateway = await startHarness({ authenticate: createAuthenticator({ publicKey }, { apiKeys }) });
  });
  beforeEach(() => {
    gateway.reset();
    gateway.fakes.catalog.listEnvironments = () => ({});
  });
  afterAll(async () => {
    close();
    await Promise.all([keys.stop(), gateway.stop()]);
  });

  const ask = (token: string) => gateway.call("GET", "/api/v1/environments", { token });

  test("lets in as the key's subject, with its roles and tenant", async () => {
    keys.fakes.access.authenticateApiKey = ({ token }, { principal }) => {
      expect({ token, caller: principal.subject }).toEqual({ token: TOKEN, caller: "gateway" });
      return {
        principal: {
          subject: `key:${OTHER_ID}`,
          tenant: "local",
          roles: ["writer"],
          kind: PrincipalKind.KEY,
        },
        expiresAt: at("2099-01-01T00:00:00Z"),
      };
    };
    expect((await ask(TOKEN)).status).toBe(200);
    expect(gateway.calls[0]?.principal).toMatchObject({
      subject: `key:${OTHER_ID}`,
      tenant: "local",
      roles: ["writer"],
      kind: "key",
    });
    expect(JSON.stringify(gateway.logged)).not.toContain(SECRET);
  });

  test.each(["KEY_EXPIRED", "KEY_REVOKED", "TOKEN_INVALID"])(
    "is refused as the catalog says: %s",
    async (code) => {
      keys.fakes.access.authenticateApiKey = () => {
        throw unauthenticated(code, "the key is not accepted");
      };
      const answer = await ask(`${TOKEN}-${code}`);
      expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 401, code });
      expect(answer.headers["www-authenticate"]).toContain("invalid_token");
      expect(gateway.calls).toHaveLength(0);
    },
  );

  test.each([
    ["the gateway's own token has expired", unauthenticated("TOKEN_EXPIRED", "expired"), 500],
    ["the gateway is no service", denied("RIGHT_MISSING", "only services"), 500],
    ["the database is away", unavailable("DATABASE_UNAVAILABLE", "away"), 503],
  ])("is not refused where the fault is another: %s", async (_what, error, status) => {
    keys.fakes.access.authenticateApiKey = () => {
      throw error;
    };
    expect((await ask(`${TOKEN}-other`)).status).toBe(status);
  });
});
