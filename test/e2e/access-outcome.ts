import type { Target } from "./access-fixtures.ts";
import type { Operation } from "./access-operations.ts";
import type { SubjectName } from "./access-subjects.ts";
import type { Answer, JsonObject } from "./rest.ts";

/** Rights that a refusal may name in place of the operation's own, by how the matrix writes it. */
const OTHER_RIGHTS: Readonly<Record<string, string>> = { r: "table.read", d: "table.drop" };
const KEY_REFUSED: Partial<Record<SubjectName, string>> = {
  expired: "KEY_EXPIRED",
  revoked: "KEY_REVOKED",
};

/** Whether a cell says that the call is done. */
export const isAllowed = (expected: string): boolean => ["ok", "--"].includes(expected);

/** The right that is missing by a cell; undefined where none is. */
export function missingRight(expected: string, { right }: Operation): string | undefined {
  return expected === "x" ? right : OTHER_RIGHTS[expected];
}

/** A call's answer, and what of it was expected. */
export interface Tried {
  readonly answer: Answer;
  readonly operation: Operation;
  readonly subject: SubjectName;
  readonly target: Target;
  readonly expected: string;
}

/** How a call was answered, as the matrix writes it; with more where it is not as expected. */
export function outcomeOf(tried: Tried): string {
  const { answer, subject, expected, operation, target } = tried;
  const { status, body } = answer;
  if (body.error) return ofIceberg(tried, body.error as JsonObject);
  if (status === 403) {
    const { right } = (body.details ?? {}) as { right?: string };
    const found = ["x", ...Object.keys(OTHER_RIGHTS)].find(
      (letter) => missingRight(letter, operation) === right,
    );
    return body.code === "RIGHT_MISSING" && found ? found : `403 ${body.code} ${right}`;
  }
  if (status >= 400) {
    const code = KEY_REFUSED[subject] ?? body.code;
    const isExpected = String(status) === expected && body.code === code;
    return isExpected ? expected : `${status} ${body.code}: ${body.detail}`;
  }
  return operation.shows && !operation.shows(body, target) ? "--" : "ok";
}

/** An answer in Iceberg's form names no right; that is for the audit log to say. */
function ofIceberg({ answer: { status }, expected, operation }: Tried, error: JsonObject): string {
  const told = `${error.code} ${error.type}`;
  const isRefusal = missingRight(expected, operation) !== undefined;
  if (status === 403 && told === "403 ForbiddenException") return isRefusal ? expected : "x";
  return told ===
    `${status} ${{ 401: "NotAuthorizedException", 404: "NoSuchTableException" }[status]}`
    ? String(status)
    : told;
}
