import { describe, expect, test } from "@jest/globals";
import { givenSettings, serviceEnvironment } from "./environment.ts";
import { stackPorts } from "./ports.ts";

const shared = {
  ports: stackPorts(0),
  natsUrl: "nats://127.0.0.1:7422",
  publicKeyFile: "/d/keys/public.pem",
  issuer: "lapse-local",
  audience: "lapse",
  objectsFolder: "/d/objects",
};
const catalog = { name: "catalog", main: "/catalog.js", database: "lapse_catalog" } as const;
const gateway = { name: "gateway", main: "/gateway.js" } as const;

describe("givenSettings", () => {
  test("passes every LAPSE_ variable on, but not the stack's own and the CLI's", () => {
    const env = {
      LAPSE_TABLES__UNDO_DAYS: "1",
      LAPSE_ENV: "test",
      LAPSE_LOCAL__DIR: "/d",
      LAPSE_TOKEN: "of the CLI",
      LAPSE_OTEL__ENDPOINT: "",
      HOME: "/root",
    };
    expect(givenSettings(env)).toEqual({ LAPSE_TABLES__UNDO_DAYS: "1", LAPSE_ENV: "test" });
  });

  test("refuses what can only be right for one service", () => {
    const env = { LAPSE_DATABASE__URL: "postgres://x", LAPSE_SERVICE__GRPC_PORT: "1" };
    expect(() => givenSettings(env)).toThrow("LAPSE_DATABASE__URL, LAPSE_SERVICE__GRPC_PORT");
  });
});

describe("serviceEnvironment", () => {
  test("tells a service its ports, its database and its peers", () => {
    const own = { databaseUrl: "postgres://lapse_catalog@x", tokenFile: "/d/tokens/catalog.jwt" };
    const env = serviceEnvironment(catalog, shared, own, { PATH: "/bin", LAPSE_URL: "x" });
    expect(env).toEqual({
      PATH: "/bin",
      LAPSE_SERVICE__HOST: "127.0.0.1",
      LAPSE_SERVICE__GRPC_PORT: "7401",
      LAPSE_SERVICE__OPERATIONS_PORT: "7501",
      LAPSE_DATABASE__URL: "postgres://lapse_catalog@x",
      LAPSE_NATS__URL: "nats://127.0.0.1:7422",
      LAPSE_AUTH__PUBLIC_KEY_FILE: "/d/keys/public.pem",
      LAPSE_AUTH__ISSUER: "lapse-local",
      LAPSE_AUTH__AUDIENCE: "lapse",
      LAPSE_AUTH__SERVICE_TOKEN_FILE: "/d/tokens/catalog.jwt",
      LAPSE_PEERS__CATALOG_URL: "http://127.0.0.1:7401",
      LAPSE_PEERS__RETENTION_POLICY_URL: "http://127.0.0.1:7402",
      LAPSE_PEERS__LIFECYCLE_EVALUATOR_URL: "http://127.0.0.1:7403",
      LAPSE_PEERS__ENTITY_RETENTION_RUNNER_URL: "http://127.0.0.1:7404",
      LAPSE_PEERS__AUDIT_URL: "http://127.0.0.1:7405",
      LAPSE_OBJECT_STORE__KIND: "file",
      LAPSE_OBJECT_STORE__PATH: "/d/objects",
    });
  });

  test("lets what was given win over the stack's choice", () => {
    const given = { LAPSE_OBJECT_STORE__KIND: "s3" };
    const env = serviceEnvironment(gateway, shared, { tokenFile: "/t" }, given);
    expect(env.LAPSE_OBJECT_STORE__KIND).toBe("s3");
    expect(env.LAPSE_SERVICE__HTTP_PORT).toBe("8080");
    expect(env).not.toHaveProperty("LAPSE_SERVICE__GRPC_PORT");
  });
});
