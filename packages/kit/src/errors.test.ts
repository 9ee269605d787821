import { describe, expect, test } from "@jest/globals";
import * as errors from "./errors.ts";
import { isConnectionLoss, isLostRace, sqlState, violatedConstraint } from "./failure.ts";

const { LapseError, toLapseError } = errors;

const fromPostgres = (code: string, more: object = {}): Error =>
  Object.assign(new Error(`error ${code}`), { code, severity: "ERROR", ...more });
const fromSystem = (code: string): Error => Object.assign(new Error(code), { code });

describe("LapseError", () => {
  test("a shorthand per kind carries reason, message, details, violations and cause", () => {
    const cause = new Error("below");
    const error = errors.invalid("RETENTION_INVALID", "days must be 1 to 3650", {
      details: { days: "0" },
      violations: [{ field: "/days", description: "too small" }],
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "LapseError",
      kind: "invalid",
      reason: "RETENTION_INVALID",
      message: "days must be 1 to 3650",
      details: { days: "0" },
      violations: [{ field: "/days", description: "too small" }],
      cause,
    });
  });

  test.each([
    ["invalid", errors.invalid],
    ["not_found", errors.notFound],
    ["already_exists", errors.alreadyExists],
    ["conflict", errors.conflict],
    ["precondition", errors.precondition],
    ["denied", errors.denied],
    ["unauthenticated", errors.unauthenticated],
    ["exhausted", errors.exhausted],
    ["unavailable", errors.unavailable],
  ] as const)("the shorthand of %s has that kind and empty details", (kind, make) => {
    expect(make("REASON", "text")).toMatchObject({ kind, details: {}, violations: [] });
    expect("cause" in make("REASON", "text")).toBe(false);
  });

  test("what may succeed later is transient, what needs somebody's doing is not", () => {
    const transient = errors.ERROR_KINDS.filter((kind) =>
      errors.isTransient(new LapseError({ kind, reason: "R", message: "m" })),
    );
    expect(transient).toEqual(["conflict", "exhausted", "unavailable"]);
  });
});

describe("toLapseError", () => {
  test("an error of ours stays itself", () => {
    const error = errors.notFound("TABLE_NOT_FOUND", "no such table");
    expect(toLapseError(error)).toBe(error);
  });

  test.each([
    ["40001", "conflict", "CONCURRENT_CHANGE"],
    ["40P01", "conflict", "CONCURRENT_CHANGE"],
    ["57014", "unavailable", "DATABASE_TIMEOUT"],
    ["55P03", "unavailable", "DATABASE_TIMEOUT"],
    ["08006", "unavailable", "DATABASE_UNAVAILABLE"],
    ["57P01", "unavailable", "DATABASE_UNAVAILABLE"],
    ["57P03", "unavailable", "DATABASE_UNAVAILABLE"],
    ["53300", "unavailable", "DATABASE_UNAVAILABLE"],
    ["25006", "unavailable", "DATABASE_UNAVAILABLE"],
    ["25P03", "unavailable", "DATABASE_UNAVAILABLE"],
  ])("SQLSTATE %s is %s %s", (code, kind, reason) => {
    const cause = fromPostgres(code);
    expect(toLapseError(cause)).toMatchObject({ kind, reason, cause });
  });

  test.each(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT"])(
    "%s is unavailable",
    (code) => {
      expect(toLapseError(fromSystem(code))).toMatchObject({
        kind: "unavailable",
        reason: "DEPENDENCY_UNAVAILABLE",
      });
    },
  );

  test.each([
    "Connection terminated unexpectedly",
    "Connection terminated due to connection timeout",
    "timeout exceeded when trying to connect",
    "Query read timeout",
    "Client has encountered a connection error and is not queryable",
    "Cannot use a pool after calling end on the pool",
  ])("the driver's %p is unavailable", (message) => {
    expect(toLapseError(new Error(message))).toMatchObject({ reason: "DATABASE_UNAVAILABLE" });
  });

  test("a wait that was given up is unavailable", () => {
    const abort = AbortSignal.abort();
    expect(toLapseError(abort.reason)).toMatchObject({ kind: "unavailable", reason: "CANCELLED" });
  });

  test("an error of the database is known through the error that wraps it", () => {
    const wrapped = new Error("while saving", { cause: fromPostgres("40001") });
    expect(toLapseError(wrapped)).toMatchObject({ kind: "conflict" });
  });

  test.each([new Error("password is hunter2"), fromPostgres("23505"), "text", null, undefined, 7])(
    "anything else is internal, and says only a reference: %p",
    (thrown) => {
      const error = toLapseError(thrown);
      expect(error).toMatchObject({ kind: "internal", reason: "INTERNAL" });
      expect(error.cause).toBe(thrown);
      expect(error.message).toBe(`internal error (reference ${error.details.reference})`);
    },
  );
});

describe("what a failed statement says", () => {
  test("a system error with five capitals is no SQLSTATE", () => {
    expect(sqlState(fromSystem("EPIPE"))).toBeUndefined();
    expect(sqlState(fromPostgres("23505"))).toBe("23505");
  });

  test("causes that go round in a circle are followed to an end", () => {
    const circle = new Error("circle");
    circle.cause = circle;
    expect(sqlState(circle)).toBeUndefined();
  });

  test("the constraint is named for violations only", () => {
    const constraint = "table_name_key";
    expect(violatedConstraint(fromPostgres("23505", { constraint }))).toBe(constraint);
    expect(violatedConstraint(fromPostgres("40001", { constraint }))).toBeUndefined();
    expect(violatedConstraint(fromPostgres("23505"))).toBeUndefined();
  });

  test("a lost race is told from a lost connection", () => {
    expect(isLostRace(fromPostgres("40P01"))).toBe(true);
    expect(isConnectionLoss(fromPostgres("40P01"))).toBe(false);
    expect(isLostRace(fromPostgres("57P01"))).toBe(false);
    expect(isConnectionLoss(fromPostgres("57P01"))).toBe(true);
    expect(isConnectionLoss(fromPostgres("57014"))).toBe(false);
    expect(isConnectionLoss(new Error("anything"))).toBe(false);
  });
});
