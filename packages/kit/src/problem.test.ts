import { expect, test } from "@jest/globals";
import { ERROR_KINDS, invalid, LapseError, toLapseError } from "./errors.ts";
import { toProblem } from "./problem.ts";

test("an error becomes a problem with code, faults by pointer, facts and trace", () => {
  const error = invalid("RETENTION_INVALID", "give exactly one of days, on and never", {
    details: { table_id: "t1" },
    violations: [{ field: "/days", description: "must be 1 to 3650" }],
    cause: new Error("never shown"),
  });
  expect(toProblem(error, { traceId: "abc" })).toEqual({
    status: 400,
    body: {
      type: "urn:lapse:error:RETENTION_INVALID",
      title: "The request is not valid",
      status: 400,
      detail: "give exactly one of days, on and never",
      code: "RETENTION_INVALID",
      errors: [{ pointer: "#/days", detail: "must be 1 to 3650" }],
      details: { table_id: "t1" },
      trace_id: "abc",
    },
  });
});

test("members that would be empty are left out", () => {
  const { body } = toProblem(new LapseError({ kind: "denied", reason: "R", message: "m" }));
  expect(Object.keys(body).sort()).toEqual(["code", "detail", "status", "title", "type"]);
});

test("every kind has its HTTP status", () => {
  const statuses = ERROR_KINDS.map((kind) => [
    kind,
    toProblem(new LapseError({ kind, reason: "R", message: "m" })).status,
  ]);
  expect(Object.fromEntries(statuses)).toEqual({
    invalid: 400,
    unauthenticated: 401,
    denied: 403,
    not_found: 404,
    already_exists: 409,
    conflict: 409,
    precondition: 409,
    exhausted: 429,
    internal: 500,
    unavailable: 503,
  });
});

test("what was really wrong inside is not shown", () => {
  const { body } = toProblem(toLapseError(new Error("password is hunter2")));
  expect(JSON.stringify(body)).not.toContain("hunter2");
});
