import { describe, expect, test } from "@jest/globals";
import { newId } from "@lapse/kit";
import {
  hashSecret,
  isSecret,
  keyExpiry,
  keyState,
  keyToken,
  newSecret,
  parseKeyToken,
} from "./api-key.ts";

const NOW = new Date("2026-06-15T12:00:00.000Z");

describe("the token of a key", () => {
  test("is taken apart into what it was made of", () => {
    const [keyId, secret] = [newId(), newSecret()];
    expect(parseKeyToken(keyToken(keyId, secret))).toEqual({ keyId, secret });
  });

  test("is none in another form", () => {
    const token = keyToken(newId(), newSecret());
    for (const other of [
      "",
      "lapse_",
      token.slice(1),
      `${token}A`,
      token.slice(0, -1),
      ` ${token}`,
      `${token}\n`,
      token.replace("lapse", "Lapse"),
    ]) {
      expect(parseKeyToken(other)).toBeUndefined();
    }
  });

  test("holds a secret of 256 bits that no other has, known by its hash only", () => {
    const secrets = Array.from({ length: 100 }, newSecret);
    expect(new Set(secrets).size).toBe(100);
    const [one = "", two = ""] = secrets;
    expect(Buffer.from(one, "base64url")).toHaveLength(32);
    expect(isSecret(one, hashSecret(one))).toBe(true);
    expect(isSecret(two, hashSecret(one))).toBe(false);
    expect(isSecret("", hashSecret(one))).toBe(false);
  });
});

describe("a key", () => {
  test("is valid until the very moment it expires", () => {
    const expiresAt = keyExpiry(NOW, 1);
    expect(expiresAt).toEqual(new Date("2026-06-16T12:00:00.000Z"));
    const at = (ms: number) =>
      keyState({ revokedAt: null, expiresAt }, new Date(expiresAt.getTime() + ms));
    expect([at(-1), at(0), at(1)]).toEqual(["valid", "expired", "expired"]);
  });

  test("stays revoked, expired or not", () => {
    for (const expiresAt of [keyExpiry(NOW, 1), keyExpiry(NOW, -1)]) {
      expect(keyState({ revokedAt: NOW, expiresAt }, NOW)).toBe("revoked");
    }
  });
});
