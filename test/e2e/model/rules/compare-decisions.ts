import type { SeenDecision } from "./seen.ts";
import { contains, type Span } from "./span.ts";
import type { ExpectedDecision } from "./state.ts";

/** Every effect has one decision, and every decision its effect. */
export function compareDecisions(
  expected: readonly ExpectedDecision[],
  seen: readonly SeenDecision[],
): string[] {
  const left = [...seen];
  const faults: string[] = [];
  // Those that say what they are about choose first.
  const inTurn = [...expected].sort(
    (a, b) => Number(a.resource === undefined) - Number(b.resource === undefined),
  );
  for (const decision of inTurn) {
    const place = left.findIndex((each) => isThat(decision, each));
    if (place === -1) faults.push(`no decision says ${JSON.stringify(decision)}`);
    else left.splice(place, 1);
  }
  return [...faults, ...left.map((each) => `a decision says ${JSON.stringify(each)}`)];
}

function isThat(expected: ExpectedDecision, seen: SeenDecision): boolean {
  return (
    expected.type === seen.type &&
    expected.actor === seen.actor &&
    expected.reason === seen.reason &&
    (expected.resource === undefined || expected.resource === seen.resource) &&
    holds(expected.details ?? {}, seen.details)
  );
}

/** Whether a detail is as expected; an instant lies in its span. */
function holds(expected: unknown, seen: unknown): boolean {
  if (typeof expected !== "object" || expected === null) return Object.is(expected, seen);
  if (isSpan(expected)) return typeof seen === "string" && contains(expected, Date.parse(seen));
  if (typeof seen !== "object" || seen === null) return false;
  const fields = seen as Record<string, unknown>;
  return Object.entries(expected).every(([key, value]) => holds(value, fields[key]));
}

const isSpan = (value: object): value is Span => "from" in value && "to" in value;
