import { expect, test } from "@jest/globals";
import type { Principal } from "./principal.ts";
import { rememberVerified } from "./verified-tokens.ts";

const principal: Principal = { subject: "ana", tenant: "acme", roles: [], kind: "person" };

/** A memory of up to two tokens for 100 ms, at a time of its own. */
function memory(expiresAt = Number.POSITIVE_INFINITY) {
  const verified: string[] = [];
  const clock = { now: 1_000 };
  const authenticate = rememberVerified(
    async (token) => {
      if (token === "bad") throw new Error("refused");
      verified.push(token);
      return { principal, expiresAt };
    },
    { keepMs: 100, most: 2, now: () => clock.now },
  );
  return { verified, clock, authenticate };
}

test("a token is verified once, and again when its time in the memory is over", async () => {
  const { verified, clock, authenticate } = memory();
  expect(await authenticate("a")).toBe(principal);
  clock.now += 99;
  expect(await authenticate("a")).toBe(principal);
  expect(verified).toEqual(["a"]);
  clock.now += 1;
  await authenticate("a");
  expect(verified).toEqual(["a", "a"]);
});

test("a token is not remembered past its expiry", async () => {
  const { verified, clock, authenticate } = memory(1_050);
  await authenticate("a");
  clock.now = 1_050;
  await authenticate("a");
  expect(verified).toEqual(["a", "a"]);
});

test("a refusal is not remembered, and other tokens are not taken for it", async () => {
  const { verified, authenticate } = memory();
  await authenticate("a");
  await expect(authenticate("bad")).rejects.toThrow("refused");
  await expect(authenticate("bad")).rejects.toThrow("refused");
  expect(verified).toEqual(["a"]);
});

test("the oldest is forgotten when there are too many", async () => {
  const { verified, authenticate } = memory();
  for (const token of ["a", "b", "c", "b", "c", "a"]) await authenticate(token);
  expect(verified).toEqual(["a", "b", "c", "a"]);
});
