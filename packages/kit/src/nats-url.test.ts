import { describe, expect, test } from "@jest/globals";
import { parseNatsUrl } from "./nats-url.ts";

describe("parseNatsUrl", () => {
  test.each([
    ["nats://127.0.0.1:4222", { servers: ["127.0.0.1:4222"] }],
    ["nats.example.org", { servers: ["nats.example.org:4222"] }],
    ["nats://a:1, nats://b:2", { servers: ["a:1", "b:2"] }],
    ["nats://[::1]:4222", { servers: ["[::1]:4222"] }],
    ["tls://a:4443", { servers: ["a:4443"], tls: {} }],
    ["nats://ana:p%40ss@a:1,nats://b:2", { servers: ["a:1", "b:2"], user: "ana", pass: "p@ss" }],
    ["nats://s3cret@a:1", { servers: ["a:1"], token: "s3cret" }],
  ])("reads %s", (url, expected) => {
    expect(parseNatsUrl(url)).toEqual(expected);
  });

  test.each(["", "http://a:1", "nats://", "nats://a:notaport", "nats://a,,"])(
    "refuses %p and does not quote it",
    (url) => {
      expect(() => parseNatsUrl(url)).toThrow(
        expect.objectContaining({ kind: "invalid", reason: "NATS_URL_INVALID" }),
      );
    },
  );

  test("keeps a password out of its message", () => {
    expect(() => parseNatsUrl("http://ana:s3cret@a")).not.toThrow(/s3cret/);
  });
});
