import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { LapseError } from "../errors.ts";
import { describeSettings } from "./describe.ts";
import { loadSettings } from "./load.ts";

const directory = mkdtempSync(join(tmpdir(), "lapse-settings-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const DATABASE = "postgres://lapse:hunter2@db:5432/catalog";
const pem = (type: "spki" | "pkcs8") => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = type === "spki" ? publicKey : privateKey;
  return key.export({ type, format: "pem" }).toString();
};

/** What is wrong with `env`, by variable. */
function faultsOf(...args: Parameters<typeof loadSettings>): Record<string, string> {
  try {
    loadSettings(...args);
  } catch (error) {
    const { kind, reason, violations } = error as LapseError;
    expect({ kind, reason }).toEqual({ kind: "invalid", reason: "SETTINGS_INVALID" });
    return Object.fromEntries(violations.map(({ field, description }) => [field, description]));
  }
  return {};
}

describe("values", () => {
  test("defaults are those of the documents", () => {
    const settings = loadSettings({});
    expect(settings).toMatchObject({
      env: "development",
      service: { host: "127.0.0.1" },
      database: { url: undefined, poolSize: 10 },
      nats: { url: undefined, replicas: 1 },
      objectStore: { kind: "file", path: undefined, forcePathStyle: false },
      time: { daySeconds: 86_400 },
      tables: {
        expiryWarningDays: 7,
        maxExpiriesPerSweep: 100,
        undoDays: 7,
        holdTtl: 3_600_000,
        maxExpiryShare: 0.5,
      },
      tableReads: { keepDays: 90 },
      run: { sweepInterval: 3_600 },
      files: { passInterval: 86_400, startDelay: 300, maxDeletesPerSecond: 0 },
      entities: { every: 0, batchSize: 1_000, grace: 3_600_000 },
      handoff: { maxAttempts: 5 },
      log: { level: "info" },
      outbox: { keepDays: 7 },
    });
  });

  test("T23 a sweep interval of 0 is allowed and means off", () => {
    expect(loadSettings({ LAPSE_RUN__SWEEP_INTERVAL: "0" }).run.sweepInterval).toBe(0);
  });

  test("T24 a sweep that may drop nothing is refused", () => {
    expect(faultsOf({ LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP: "0" })).toEqual({
      LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP:
        '"0" is not allowed; expected a whole number from 1 to 1000000',
    });
  });

  test.each([
    ["1h", 3_600_000],
    ["90m", 5_400_000],
    ["2d", 172_800_000],
    ["1500ms", 1_500],
    ["30", 30_000],
  ])("T21 a hold's time of %s is %d ms", (text, ms) => {
    expect(loadSettings({ LAPSE_TABLES__HOLD_TTL: text }).tables.holdTtl).toBe(ms);
  });

  test.each(["0", "1 h", "-1h", "1w", "h", "forever", "999999999d"])(
    "T21 a hold's time of %p is refused",
    (text) => {
      expect(faultsOf({ LAPSE_TABLES__HOLD_TTL: text })).toEqual({
        LAPSE_TABLES__HOLD_TTL: `"${text}" is not allowed; expected seconds or a duration such as 90s, 15m, 1h, 7d, from 1s to 30d`,
      });
    },
  );

  test.each(["soon", "7.5", "-1", "1e3", "0x10", " 7", "3651"])(
    "a number of days of %p is refused",
    (text) => {
      expect(Object.keys(faultsOf({ LAPSE_TABLES__UNDO_DAYS: text }))).toEqual([
        "LAPSE_TABLES__UNDO_DAYS",
      ]);
    },
  );

  test.each([
    ["false", false],
    ["0", false],
    ["no", false],
    ["true", true],
    ["1", true],
  ])("a flag given as %p is %p", (text, value) => {
    const { objectStore } = loadSettings({ LAPSE_OBJECT_STORE__FORCE_PATH_STYLE: text });
    expect(objectStore.forcePathStyle).toBe(value);
  });

  test("an empty variable counts as not given", () => {
    expect(loadSettings({ LAPSE_TABLES__UNDO_DAYS: "" }).tables.undoDays).toBe(7);
  });

  test("a service's own defaults go before the general ones and after the environment", () => {
    const defaults = { LAPSE_SERVICE__GRPC_PORT: "7405" };
    expect(loadSettings({}, { defaults }).service.grpcPort).toBe(7_405);
    const env = { LAPSE_SERVICE__GRPC_PORT: "9000" };
    expect(loadSettings(env, { defaults }).service.grpcPort).toBe(9_000);
  });

  test("the settings cannot be changed", () => {
    const settings = loadSettings({});
    expect(() => Object.assign(settings.tables, { undoDays: 0 })).toThrow(/read only/);
  });

  test("several NATS servers may be given", () => {
    const url = "nats://a:4222,nats://b:4222";
    expect(loadSettings({ LAPSE_NATS__URL: url }).nats.url).toBe(url);
    expect(Object.keys(faultsOf({ LAPSE_NATS__URL: "nats://a:4222,http://b" }))).toEqual([
      "LAPSE_NATS__URL",
    ]);
  });

  test.each(["catalog:7401", "http://catalog:7401/path", "ftp://catalog:7401", "http://"])(
    "a peer at %p is refused",
    (url) => {
      expect(Object.keys(faultsOf({ LAPSE_PEERS__CATALOG_URL: url }))).toEqual([
        "LAPSE_PEERS__CATALOG_URL",
      ]);
    },
  );
});

describe("faults", () => {
  test("all are reported at once, each with its variable, the value and what is allowed", () => {
    const env = {
      LAPSE_ENV: "prod",
      LAPSE_TABLES__UNDO_DAYS: "soon",
      LAPSE_TABLES__UNDO_DAY: "7",
      LAPSE_LOG__LEVEL: "loud",
    };
    const faults = faultsOf(env, { requires: ["database", "nats"] });
    expect(faults).toEqual({
      LAPSE_ENV: '"prod" is not allowed; expected one of development, test, production',
      LAPSE_TABLES__UNDO_DAYS: '"soon" is not allowed; expected a whole number from 0 to 3650',
      LAPSE_TABLES__UNDO_DAY: "is not a setting; did you mean LAPSE_TABLES__UNDO_DAYS?",
      LAPSE_LOG__LEVEL:
        '"loud" is not allowed; expected one of fatal, error, warn, info, debug, trace, silent',
      LAPSE_DATABASE__URL: "must be given",
      LAPSE_NATS__URL: "must be given",
    });
  });

  test("the message lists them for a person", () => {
    expect(() => loadSettings({ LAPSE_ENV: "prod", LAPSE_X: "1" })).toThrow(
      "the configuration has 2 faults:\n" +
        "  LAPSE_X: is not a setting\n" +
        '  LAPSE_ENV: "prod" is not allowed; expected one of development, test, production',
    );
  });

  test("a name that is near to none gets no suggestion", () => {
    expect(faultsOf({ LAPSE_COMPLETELY__DIFFERENT: "1" })).toEqual({
      LAPSE_COMPLETELY__DIFFERENT: "is not a setting",
    });
  });

  test.each(["LAPSE_LOCAL__DIR", "LAPSE_URL", "LAPSE_TOKEN", "LAPSE_ENVIRONMENT"])(
    "%s, which is not for services, is refused as that",
    (name) => {
      expect(faultsOf({ [name]: "x" })).toEqual({
        [name]: "is for the command line or the local stack; a service must not be given it",
      });
    },
  );

  test("variables of others are left alone", () => {
    expect(faultsOf({ PATH: "/bin", XLAPSE_ENV: "x", lapse_env: "x" })).toEqual({});
  });

  test("the value of an unknown variable is not shown: it may be a secret misspelt", () => {
    expect(() => loadSettings({ LAPSE_DATABASE__URI: DATABASE })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
    );
  });

  test("a long value is shown in part", () => {
    const fault = faultsOf({ LAPSE_ENV: "x".repeat(5_000) }).LAPSE_ENV;
    expect(fault?.length).toBeLessThan(200);
  });
});

describe("secrets", () => {
  test("may be in a file, whose last line end does not count", () => {
    const env = { LAPSE_DATABASE__URL_FILE: file("url", `${DATABASE}\n`) };
    expect(loadSettings(env, { requires: ["database"] }).database.url).toBe(DATABASE);
  });

  test("given both ways are refused", () => {
    const env = { LAPSE_DATABASE__URL: DATABASE, LAPSE_DATABASE__URL_FILE: file("url", DATABASE) };
    expect(faultsOf(env, { requires: ["database"] })).toEqual({
      LAPSE_DATABASE__URL: "given here and in LAPSE_DATABASE__URL_FILE; give one of them",
    });
  });

  test("in a file that cannot be read are reported under the variable that names the file", () => {
    const missing = join(directory, "missing");
    expect(faultsOf({ LAPSE_DATABASE__URL_FILE: missing })).toEqual({
      LAPSE_DATABASE__URL_FILE: `${missing} cannot be read (ENOENT)`,
    });
    expect(faultsOf({ LAPSE_DATABASE__URL_FILE: directory })).toEqual({
      LAPSE_DATABASE__URL_FILE: `${directory} cannot be read (EISDIR)`,
    });
  });

  test("are never shown, wherever they come from", () => {
    const secret = "http://user:hunter2@db";
    const faults = [
      faultsOf({ LAPSE_DATABASE__URL: secret }),
      faultsOf({ LAPSE_DATABASE__URL_FILE: file("bad", secret) }),
      faultsOf({ LAPSE_NATS__URL: secret }),
    ];
    expect(faults.map((fault) => Object.keys(fault))).toEqual([
      ["LAPSE_DATABASE__URL"],
      ["LAPSE_DATABASE__URL_FILE"],
      ["LAPSE_NATS__URL"],
    ]);
    expect(JSON.stringify(faults)).not.toContain("hunter2");
    expect(faults[0]?.LAPSE_DATABASE__URL).toMatch(/^its value \(not shown\) is not allowed/);
  });

  test("are not in the description of the settings in force", () => {
    const env = { LAPSE_DATABASE__URL: DATABASE, LAPSE_AUTH__SERVICE_TOKEN: "hunter2" };
    const described = describeSettings(loadSettings(env));
    expect(described).toMatchObject({
      LAPSE_DATABASE__URL: "[secret]",
      LAPSE_AUTH__SERVICE_TOKEN: "[secret]",
      LAPSE_NATS__URL: undefined,
      LAPSE_TABLES__UNDO_DAYS: 7,
    });
    expect(JSON.stringify(described)).not.toContain("hunter2");
  });

  test("only secrets and keys may be in files", () => {
    expect(faultsOf({ LAPSE_TABLES__UNDO_DAYS_FILE: "/x" })).toEqual({
      LAPSE_TABLES__UNDO_DAYS_FILE:
        "only secrets are read from files; give LAPSE_TABLES__UNDO_DAYS",
    });
  });

  test("the service token is given by a function, from a variable or a file", () => {
    const direct = loadSettings(
      { LAPSE_AUTH__SERVICE_TOKEN: "abc" },
      { requires: ["serviceToken"] },
    );
    expect(direct.auth.serviceToken()).toBe("abc");
    const env = { LAPSE_AUTH__SERVICE_TOKEN_FILE: file("token", "def\n") };
    expect(loadSettings(env).auth.serviceToken?.()).toBe("def");
  });
});

describe("what a service requires", () => {
  test("the keys of tokens: a JWKS URL or a public key, not both, not neither", () => {
    const key = { LAPSE_AUTH__PUBLIC_KEY: pem("spki") };
    const jwks = { LAPSE_AUTH__JWKS_URL: "https://id.example.org/keys" };
    expect(faultsOf(key, { requires: ["auth"] })).toEqual({});
    expect(faultsOf(jwks, { requires: ["auth"] })).toEqual({});
    expect(Object.keys(faultsOf({}, { requires: ["auth"] }))).toEqual(["LAPSE_AUTH__JWKS_URL"]);
    expect(Object.keys(faultsOf({ ...key, ...jwks }))).toEqual(["LAPSE_AUTH__PUBLIC_KEY"]);
  });

  test("a public key may be on one line, and must be public", () => {
    const given = pem("spki");
    const env = { LAPSE_AUTH__PUBLIC_KEY: given.replaceAll("\n", "\\n") };
    expect(loadSettings(env).auth.publicKey).toBe(given);
    for (const text of [pem("pkcs8"), "garbage", "-----BEGIN PUBLIC KEY-----\nAAAA\n"]) {
      expect(Object.keys(faultsOf({ LAPSE_AUTH__PUBLIC_KEY: text }))).toEqual([
        "LAPSE_AUTH__PUBLIC_KEY",
      ]);
    }
  });

  test.each([
    ["RSA of 1024 bits", () => generateKeyPairSync("rsa", { modulusLength: 1_024 })],
    ["EC on secp256k1", () => generateKeyPairSync("ec", { namedCurve: "secp256k1" })],
    ["X25519", () => generateKeyPairSync("x25519")],
  ])("a weak or unsuitable key is refused: %s", (_, generate) => {
    const key = generate().publicKey.export({ type: "spki", format: "pem" }).toString();
    expect(Object.keys(faultsOf({ LAPSE_AUTH__PUBLIC_KEY: key }))).toEqual([
      "LAPSE_AUTH__PUBLIC_KEY",
    ]);
  });

  test("a path for an object store in a directory", () => {
    expect(Object.keys(faultsOf({}, { requires: ["objectStore"] }))).toEqual([
      "LAPSE_OBJECT_STORE__PATH",
    ]);
    expect(faultsOf({ LAPSE_OBJECT_STORE__KIND: "s3" }, { requires: ["objectStore"] })).toEqual({});
    expect(faultsOf({ LAPSE_OBJECT_STORE__PATH: "data" })).not.toEqual({});
  });

  test("both halves of an S3 credential, or neither", () => {
    expect(Object.keys(faultsOf({ LAPSE_OBJECT_STORE__ACCESS_KEY_ID: "a" }))).toEqual([
      "LAPSE_OBJECT_STORE__ACCESS_KEY_ID",
    ]);
  });

  test("what is given badly is not reported as missing too", () => {
    const faults = faultsOf({ LAPSE_DATABASE__URL: "mysql://x" }, { requires: ["database"] });
    expect(faults.LAPSE_DATABASE__URL).toMatch(/not allowed/);
  });
});

describe("production", () => {
  test("a shortened day is refused there, and only there", () => {
    const short = { LAPSE_TIME__DAY_SECONDS: "10" };
    expect(Object.keys(faultsOf({ ...short, LAPSE_ENV: "production" }))).toEqual([
      "LAPSE_TIME__DAY_SECONDS",
    ]);
    expect(loadSettings(short).time.daySeconds).toBe(10);
    const whole = { LAPSE_ENV: "production", LAPSE_TIME__DAY_SECONDS: "86400" };
    expect(loadSettings(whole).time.daySeconds).toBe(86_400);
  });
});
