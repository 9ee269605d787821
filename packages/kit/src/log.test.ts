import { expect, test } from "@jest/globals";
import { notFound } from "./errors.ts";
import { createLogger, type LogLevel } from "./log.ts";

function captured(level: LogLevel = "info") {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, log: createLogger({ service: "catalog", level, destination }) };
}

test("a line has ISO time, the level as a word, the service, fields and a message", () => {
  const { lines, log } = captured();
  log.info({ table_id: "t1" }, "table dropped");
  expect(lines).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: "catalog",
      table_id: "t1",
      msg: "table dropped",
    },
  ]);
});

test("what is below the level is not written", () => {
  const { lines, log } = captured("warn");
  log.info("no");
  log.warn("yes");
  expect(lines.map(({ msg }) => msg)).toEqual(["yes"]);
});

test("secrets are not written, at the top or a level below, whatever the logger is a child of", () => {
  const { lines, log } = captured();
  const secrets = { token: "s3cret", password: "s3cret", authorization: "Bearer s3cret" };
  log.child({ secret: "s3cret" }).info({ ...secrets, headers: secrets, auth: secrets }, "call");
  expect(JSON.stringify(lines)).not.toContain("s3cret");
  expect(lines[0]).toMatchObject({ token: "[secret]", headers: { authorization: "[secret]" } });
});

test("an error is written with its reason, its stack and its causes", () => {
  const { lines, log } = captured();
  const below = Object.assign(new Error("duplicate key"), { code: "23505", severity: "ERROR" });
  log.error(
    { err: notFound("TABLE_NOT_FOUND", "no table", { details: { name: "t" }, cause: below }) },
    "failed",
  );
  expect(lines[0]?.err).toMatchObject({
    type: "LapseError",
    message: "no table",
    kind: "not_found",
    reason: "TABLE_NOT_FOUND",
    details: { name: "t" },
    stack: expect.stringContaining("log.test"),
    cause: { message: "duplicate key", code: "23505" },
  });
});

test("row values that PostgreSQL quotes in an error are not written", () => {
  const { lines, log } = captured();
  const err = Object.assign(new Error("duplicate key"), {
    code: "23505",
    detail: "Key (email)=(ana@example.org) already exists.",
    where: "COPY x, line 1: ana@example.org",
  });
  log.error({ err }, "failed");
  expect(JSON.stringify(lines)).not.toContain("ana@example.org");
});

test("what is thrown without being an error is written too, and circles end", () => {
  const { lines, log } = captured();
  const circle = new Error("circle");
  circle.cause = circle;
  log.error({ err: "text" }, "a");
  log.error({ err: circle }, "b");
  expect(lines[0]?.err).toBe("text");
  expect(lines[1]?.err).toMatchObject({ message: "circle", cause: { message: "circle" } });
});
