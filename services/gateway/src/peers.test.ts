import { describe, expect, test } from "@jest/globals";
import { denied, internal, unauthenticated, unavailable } from "@lapse/kit";
import { outwards } from "./peers.ts";

describe("outwards", () => {
  test.each(["PEER_UNREACHABLE", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"])(
    "tells %s by the service's name, without its address",
    (reason) => {
      const error = outwards(
        "catalog",
        unavailable(reason, "http://10.0.0.7:7401 cannot be reached"),
      );
      expect(error).toMatchObject({ kind: "unavailable", reason: "SERVICE_UNAVAILABLE" });
      expect(error.message).toMatch(/^catalog does not answer/);
    },
  );

  test("keeps what the service itself says", () => {
    for (const error of [
      unavailable("EVALUATOR_BEHIND", "repeat"),
      denied("RIGHT_MISSING", "no"),
      internal(new Error("x")),
    ]) {
      expect(outwards("catalog", error)).toBe(error);
    }
  });

  test("takes a refusal of the gateway's credential for a fault of ours", () => {
    for (const error of [
      unauthenticated("TOKEN_EXPIRED", "the token has expired"),
      denied("ON_BEHALF_OF_REFUSED", "only a service may act for others"),
    ]) {
      expect(outwards("catalog", error)).toMatchObject({ kind: "internal", cause: error });
    }
  });
});
