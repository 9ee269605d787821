import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ERROR_KINDS, invalid, LapseError, notFound } from "../errors.ts";
import { fromStatus, toStatus } from "./status.ts";

/** A status as the other side gets it. */
function received(sent: Partial<StatusObject>): ServiceError {
  const { code = status.UNKNOWN, details = "", metadata = new Metadata() } = sent;
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata });
}

describe("an error sent and received", () => {
  test.each(ERROR_KINDS)("keeps the kind %s", (kind) => {
    const error = new LapseError({ kind, reason: "REASON", message: "text" });
    expect(fromStatus(received(toStatus(error)))).toMatchObject({ kind, reason: "REASON" });
  });

  test("is the same in kind, reason, message, details and violations", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    const wellFormed = text.map((value) => Buffer.from(value).toString());
    const init = fc.record({
      kind: fc.constantFrom(...ERROR_KINDS),
      reason: fc.stringMatching(/^[A-Z][A-Z_]{0,20}$/),
      message: wellFormed,
      details: fc.dictionary(fc.stringMatching(/^[a-z][a-z_]{0,9}$/), wellFormed, { maxKeys: 5 }),
      violations: fc.array(fc.record({ field: wellFormed, description: wellFormed }), {
        maxLength: 5,
      }),
    });
    fc.assert(
      fc.property(init, (sent) => {
        const { kind, reason, message, details, violations } = fromStatus(
          received(toStatus(new LapseError(sent))),
        );
        expect({ kind, reason, message, details, violations }).toEqual(sent);
      }),
    );
  });

  test("is cut to what headers can hold, and keeps its kind and reason", () => {
    const violations = Array.from({ length: 10_000 }, (_, index) => ({
      field: `/columns/${index}`,
      description: "is not a column name",
    }));
    const error = invalid("COLUMNS_INVALID", "x".repeat(100_000), {
      violations,
      details: { a: "b" },
    });
    const sent = toStatus(error);
    const bytes = sent.metadata?.get("grpc-status-details-bin")[0];
    expect(bytes?.length).toBeLessThan(6_001);
    expect(sent.details?.length).toBe(1_000);
    const got = fromStatus(received(sent));
    expect(got).toMatchObject({ reason: "COLUMNS_INVALID", details: { a: "b" } });
    expect(got.violations.length).toBeGreaterThan(50);
    expect(got.violations).toEqual(violations.slice(0, got.violations.length));
  });

  test("loses details that no header can hold rather than the answer", () => {
    const error = notFound("GONE", "gone", { details: { a: "x".repeat(50_000) } });
    expect(fromStatus(received(toStatus(error)))).toMatchObject({ reason: "GONE", details: {} });
  });

  test("whose message ends in half a character can still be sent", () => {
    for (const message of [`${"x".repeat(998)}🙂🙂`, "\ud800", "line\nbreak"]) {
      const { details = "" } = toStatus(notFound("GONE", message));
      expect(() => encodeURI(details)).not.toThrow();
    }
  });
});

describe("a status that is not ours", () => {
  test.each([
    [status.CANCELLED, "unavailable", "CANCELLED"],
    [status.DEADLINE_EXCEEDED, "unavailable", "DEADLINE_EXCEEDED"],
    [status.UNAVAILABLE, "unavailable", "UNAVAILABLE"],
    [status.OUT_OF_RANGE, "invalid", "OUT_OF_RANGE"],
    [status.UNIMPLEMENTED, "internal", "UNIMPLEMENTED"],
    [status.UNKNOWN, "internal", "UNKNOWN"],
    [status.DATA_LOSS, "internal", "DATA_LOSS"],
    [99 as status, "internal", "UNKNOWN"],
  ])("%d is %s %s", (code, kind, reason) => {
    const error = fromStatus(received({ code, details: "text" }));
    expect(error).toMatchObject({ kind, reason, message: "text" });
  });

  test("details that are damaged or of another domain are left aside", () => {
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from([0xff, 0xff]));
    const error = fromStatus(received({ code: status.NOT_FOUND, details: "no", metadata }));
    expect(error).toMatchObject({ kind: "not_found", reason: "NOT_FOUND", message: "no" });
  });
});
