import { describe, expect, test } from "@jest/globals";
import { LapseApiError, LapseInputError, LapseUnreachableError } from "@lapse/sdk";
import { EXIT, exitCodeOf, FailedError, UsageError } from "./exit.ts";

const api = (status: number) => new LapseApiError(status, { code: "X", detail: "x" });

describe("exitCodeOf", () => {
  test.each([
    ["a wrong call", new UsageError("x"), EXIT.usage],
    ["an argument that cannot be sent", new LapseInputError("x"), EXIT.usage],
    ["a fault in the request (400)", api(400), EXIT.usage],
    ["no credential (401)", api(401), EXIT.refused],
    ["no right (403)", api(403), EXIT.refused],
    ["a conflict (409)", api(409), EXIT.refused],
    ["a precondition (412)", api(412), EXIT.refused],
    ["nothing there (404)", api(404), EXIT.notFound],
    ["a fault of the server (500)", api(500), EXIT.failed],
    ["no answer", new LapseUnreachableError("x"), EXIT.failed],
    ["work that failed", new FailedError("x"), EXIT.failed],
    ["a bug", new TypeError("x"), EXIT.failed],
  ])("%s ends with its code", (_, error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});
