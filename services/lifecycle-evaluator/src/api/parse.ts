import { type FieldViolation, invalid, isId } from "@lapse/kit";
import type { SeenVersions as SeenVersionsMessage } from "@lapse/proto/evaluator";
import type { SeenVersions } from "../domain/seen-versions.ts";

/** Where the parts of a request note what is wrong with them, so that a caller learns everything at once. */
export type Faults = FieldViolation[];

/**
 * What `parse` makes of a request, if it noted no fault.
 *
 * @throws invalid `REQUEST_INVALID` with every fault
 */
export function parsed<T>(parse: (faults: Faults) => T): T {
  const faults: Faults = [];
  const value = parse(faults);
  const [first, ...more] = faults;
  if (first === undefined) {
    return value;
  }
  const others = more.length === 0 ? "" : `, and ${more.length} more`;
  throw invalid("REQUEST_INVALID", `${first.field} ${first.description}${others}`, {
    violations: faults,
  });
}

/** A UUID, in the form in which it is stored. */
export function parseId(faults: Faults, field: string, id: string): string {
  if (!isId(id)) {
    faults.push({ field, description: "must be a UUID" });
  }
  return id.toLowerCase();
}

/** A whole number of a bounded range. */
export function parseWhole(
  faults: Faults,
  field: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    faults.push({ field, description: `must be ${least} to ${most}` });
  }
  return value;
}

const USUAL_LIMIT = 100;
const LARGEST_LIMIT = 1_000;

/** How many a page holds: 1 to 1,000; 0 means 100. */
export function parseLimit(faults: Faults, limit: number): number {
  parseWhole(faults, "/limit", limit, { least: 0, most: LARGEST_LIMIT });
  return limit === 0 ? USUAL_LIMIT : limit;
}

/** Farther ahead than any retention reaches. */
const LONGEST_WINDOW_DAYS = 36_500;

/** Retention days, also parts of one; null: the warning window. */
export function parseWindow(faults: Faults, days: number): number | null {
  if (!(days >= 0 && days <= LONGEST_WINDOW_DAYS)) {
    faults.push({
      field: "/within_days",
      description: `must be 0 to ${LONGEST_WINDOW_DAYS} days; 0 is the warning window`,
    });
    return null;
  }
  return days === 0 ? null : days;
}

const LONGEST_TEXT = 1_000;

/** A text for people, which a database can hold. */
export function parseText(faults: Faults, field: string, text: string): string {
  if (text.length > LONGEST_TEXT || text.includes("\0")) {
    faults.push({ field, description: `must be a text of up to ${LONGEST_TEXT} characters` });
  }
  return text;
}

/** The versions an answer must rest on at least; none wanted: 0. */
export function parseVersions(versions: SeenVersionsMessage | undefined): SeenVersions {
  return {
    changeVersion: versions?.changeVersion ?? 0n,
    retentionVersion: versions?.retentionVersion ?? 0n,
    policyVersion: versions?.policyVersion ?? 0n,
  };
}
