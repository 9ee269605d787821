import { timestampDate } from "@bufbuild/protobuf/wkt";
import { invalid, isId } from "@lapse/kit";
import { type Decision as DecisionMessage, DecisionOutcome } from "@lapse/proto/events";
import { type Decision, type Json, type JsonObject, OUTCOMES } from "../domain/decision.ts";

/** Where the event of a decision came from. */
export type Origin = Pick<Decision, "source" | "sourceSequence">;

/** An index entry holds 2,704 bytes, and some index the tenant and one other text. */
const LONGEST_TENANT = 400;
const LONGEST_TEXT = 2_048;

/**
 * A decision as it goes into the log. What PostgreSQL cannot store as it is (NUL, half of a surrogate pair)
 * becomes U+FFFD, so that a record reads back as it was hashed.
 *
 * @throws invalid `DECISION_INVALID`: it has no id, time, type or tenant, an outcome of no known name, or a
 * text that is too long.
 */
export function toDecision(message: DecisionMessage, origin: Origin): Decision {
  const { id, at } = message;
  if (!isId(id)) {
    throw refuse("id", "is not a UUID");
  }
  if (at === undefined) {
    throw refuse("at", "is missing");
  }
  return {
    id: id.toLowerCase(),
    at: timestampDate(at),
    type: required("type", message.type, LONGEST_TEXT),
    service: text("service", message.service, LONGEST_TEXT),
    tenant: required("tenant", message.tenant, LONGEST_TENANT),
    actor: text("actor", message.actor, LONGEST_TEXT),
    resource: {
      kind: text("resource.kind", message.resource?.kind ?? "", LONGEST_TEXT),
      id: text("resource.id", message.resource?.id ?? "", LONGEST_TEXT),
      name: text("resource.name", message.resource?.name ?? "", LONGEST_TEXT),
      environment: text("resource.environment", message.resource?.environment ?? "", LONGEST_TEXT),
    },
    outcome: outcome(message.outcome),
    reason: text("reason", message.reason, LONGEST_TEXT),
    details: details(message.details ?? {}),
    runId: text("run_id", message.runId, LONGEST_TEXT),
    traceId: text("trace_id", message.traceId, LONGEST_TEXT),
    source: text("ce-source", origin.source, LONGEST_TEXT),
    sourceSequence: origin.sourceSequence,
  };
}

const OUTCOME_NAMES: Readonly<Record<number, Decision["outcome"]>> = {
  [DecisionOutcome.DONE]: "done",
  [DecisionOutcome.KEPT]: "kept",
  [DecisionOutcome.REFUSED]: "refused",
  [DecisionOutcome.FAILED]: "failed",
};

function outcome(value: DecisionOutcome): Decision["outcome"] {
  const name = OUTCOME_NAMES[value];
  if (name === undefined) {
    throw refuse("outcome", `is ${value}, none of ${OUTCOMES.join(", ")}`);
  }
  return name;
}

function required(field: string, value: string, longest: number): string {
  if (value === "") {
    throw refuse(field, "is missing");
  }
  return text(field, value, longest);
}

function text(field: string, value: string, longest: number): string {
  if (Buffer.byteLength(value) > longest) {
    throw refuse(field, `is longer than ${longest} bytes`);
  }
  return storable(value);
}

function details(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [storable(key), json(member)]),
  );
}

function json(value: Json): Json {
  switch (typeof value) {
    case "string":
      return storable(value);
    case "number":
      if (!Number.isFinite(value)) {
        throw refuse("details", "hold a number that is not finite");
      }
      return value;
    case "object":
      if (value === null) {
        return value;
      }
      return Array.isArray(value) ? value.map(json) : details(value);
    default:
      return value;
  }
}

const SURROGATE = /[\ud800-\udfff]/;

/** A round trip through UTF-8 replaces halves of surrogate pairs. */
function storable(value: string): string {
  const wellFormed = SURROGATE.test(value) ? Buffer.from(value).toString() : value;
  return wellFormed.replaceAll("\u0000", "\uFFFD");
}

function refuse(field: string, fault: string) {
  return invalid("DECISION_INVALID", `the decision's ${field} ${fault}`);
}
