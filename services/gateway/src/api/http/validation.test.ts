import { describe, expect, test } from "@jest/globals";
import { LapseError } from "@lapse/kit";
import * as z from "zod";
import { validatorCompiler } from "./validation.ts";

const faultsOf = (schema: z.ZodType, data: unknown, httpPart = "body") => {
  const result = validatorCompiler({ schema, method: "POST", url: "/", httpPart })(data);
  if (typeof result !== "object" || !("error" in result) || !(result.error instanceof LapseError))
    return [];
  return result.error.violations.map(({ field, description }) => [field, description]);
};

describe("validatorCompiler", () => {
  test("gives the parsed value", () => {
    const schema = z.strictObject({ n: z.coerce.number() });
    const check = validatorCompiler({ schema, method: "GET", url: "/", httpPart: "querystring" });
    expect(check({ n: "5" })).toEqual({ value: { n: 5 } });
  });

  test("points at every fault, escaping what a pointer must escape", () => {
    const schema = z.strictObject({ a: z.strictObject({ "x/y~z": z.string() }), b: z.string() });
    expect(faultsOf(schema, { a: { "x/y~z": 1 }, c: 1 }).map(([field]) => field)).toEqual([
      "/a/x~1y~0z",
      "/b",
      "/c",
    ]);
  });

  test("says which part of the request is meant where it is not the body", () => {
    const schema = z.strictObject({ id: z.uuid({ error: "is no id" }) });
    expect(faultsOf(schema, { id: "x" }, "params")).toEqual([["/id", "path parameter: is no id"]]);
    expect(faultsOf(schema, { id: "x" }, "body")).toEqual([["/id", "is no id"]]);
  });

  test("tells a fault once", () => {
    const error = "1 to 9";
    const schema = z.strictObject({ n: z.int({ error }).max(9, { error }) });
    expect(faultsOf(schema, { n: 1e20 })).toEqual([["/n", "1 to 9"]]);
  });

  test("judges a union by the alternative that was most likely meant", () => {
    const one = z.strictObject({ kind: z.enum(["a", "b"]), id: z.string() });
    const schema = z.union([one, z.strictObject({ many: z.array(one) })]);
    expect(faultsOf(schema, { kind: "c", id: "x" }).map(([field]) => field)).toEqual(["/kind"]);
    const many = { many: [{ kind: "c", id: "x" }, { kind: "a" }] };
    expect(faultsOf(schema, many).map(([field]) => field)).toEqual(["/many/0/kind", "/many/1/id"]);
  });

  test("lists a hundred faults at most", () => {
    const schema = z.array(z.string());
    expect(faultsOf(schema, Array(5_000).fill(1))).toHaveLength(100);
  });
});
