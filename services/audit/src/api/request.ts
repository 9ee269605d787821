import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { invalid } from "@lapse/kit";
import type { DecisionFilter as FilterMessage } from "@lapse/proto/audit";
import type { DecisionFilter } from "../store/decision-search.ts";

const USUAL_LIMIT = 100;
const LARGEST_LIMIT = 1_000;
const LONGEST_TEXT = 2_048;
const MOST_SEQ = 2n ** 63n - 1n;

/**
 * How many a list gives: 1 to 1,000; 0 means 100.
 *
 * @throws invalid `LIMIT_INVALID`
 */
export function parseLimit(limit: number): number {
  if (limit < 0 || limit > LARGEST_LIMIT) {
    throw invalid("LIMIT_INVALID", `limit must be 1 to ${LARGEST_LIMIT}, not ${limit}`, {
      violations: [{ field: "/limit", description: `must be 1 to ${LARGEST_LIMIT}` }],
    });
  }
  return limit === 0 ? USUAL_LIMIT : limit;
}

/**
 * Which decisions are wanted; an empty field does not narrow.
 *
 * @throws invalid `FILTER_INVALID`
 */
export function parseFilter(filter: FilterMessage | undefined): DecisionFilter {
  return {
    type: parseText("type", filter?.type),
    resource: parseText("resource", filter?.resource),
    actor: parseText("actor", filter?.actor),
    runId: parseText("run_id", filter?.runId),
    since: parseTime("since", filter?.since),
    until: parseTime("until", filter?.until),
  };
}

/**
 * Where a watch starts.
 *
 * @throws invalid `SEQ_INVALID` for a number that no chain reaches
 */
export function parseAfterSeq(afterSeq: bigint | undefined): bigint | undefined {
  if (afterSeq !== undefined && afterSeq > MOST_SEQ) {
    throw invalid("SEQ_INVALID", "after_seq must be the seq of a record");
  }
  return afterSeq;
}

function parseText(field: string, text = ""): string | undefined {
  if (text.length > LONGEST_TEXT || text.includes("\u0000")) {
    throw refuse(field, `must be a text of up to ${LONGEST_TEXT} characters`);
  }
  return text === "" ? undefined : text;
}

function parseTime(field: string, time: Timestamp | undefined): Date | undefined {
  if (time === undefined) {
    return undefined;
  }
  const date = timestampDate(time);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) {
    throw refuse(field, "must be a time between the years 1 and 9999");
  }
  return date;
}

function refuse(field: string, description: string) {
  return invalid("FILTER_INVALID", `filter.${field} ${description}`, {
    violations: [{ field: `/filter/${field}`, description }],
  });
}
