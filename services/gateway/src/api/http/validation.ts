import { type FieldViolation, invalid } from "@lapse/kit";
import type { FastifySchemaCompiler } from "fastify";
import { type $ZodIssue, type $ZodType, safeParse } from "zod/v4/core";

/** Where in a request a fault is, for the sentence that tells it. */
const PARTS: Readonly<Record<string, string>> = {
  params: "path parameter",
  querystring: "query parameter",
  headers: "header",
};

/** Faults listed in one answer, at most. */
const MOST_FAULTS = 100;

/** Checks a part of a request; every fault of it is in the error, with a pointer. */
export const validatorCompiler: FastifySchemaCompiler<$ZodType> = ({
  schema,
  httpPart = "body",
}) => {
  const part = PARTS[httpPart];
  return (data) => {
    const result = safeParse(schema, data);
    if (result.success) return { value: result.data };
    const faults = distinct(result.error.issues.flatMap((issue) => violationsOf(issue, part)));
    return { error: requestInvalid(faults) };
  };
};

function requestInvalid(faults: readonly FieldViolation[]) {
  const [first] = faults;
  const message =
    faults.length === 1 && first
      ? `the request is not valid: ${first.field ? `${first.field}: ` : ""}${first.description}`
      : `the request has ${faults.length} faults; see errors`;
  return invalid("REQUEST_INVALID", message, { violations: faults.slice(0, MOST_FAULTS) });
}

function violationsOf(issue: $ZodIssue, part: string | undefined): FieldViolation[] {
  const said = (text: string) => (part === undefined ? text : `${part}: ${text}`);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        field: pointer([...issue.path, key]),
        description: said("is not known here; remove it"),
      }));
    case "invalid_union": {
      const closest = closestOption(issue.errors);
      if (!closest) return [{ field: pointer(issue.path), description: said(issue.message) }];
      return closest.flatMap((inner) =>
        violationsOf({ ...inner, path: [...issue.path, ...inner.path] } as $ZodIssue, part),
      );
    }
    default:
      return [{ field: pointer(issue.path), description: said(issue.message) }];
  }
}

/** A number far out of bounds breaks two rules and is told once. */
const distinct = (faults: readonly FieldViolation[]): FieldViolation[] => [
  ...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values(),
];

/** The alternative that was most likely meant: the one with the fewest faults near its root. */
function closestOption(options: readonly (readonly $ZodIssue[])[]) {
  const nearRoot = (issues: readonly $ZodIssue[]) =>
    issues.reduce((sum, { path }) => sum + (path.length <= 1 ? 1 : 0), 0);
  return [...options].sort((a, b) => nearRoot(a) - nearRoot(b))[0];
}

/** RFC 6901; the whole document is "". */
const pointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
