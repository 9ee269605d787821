import { invalid } from "./errors.ts";
import { STREAM_NAMES, STREAMS, type StreamName } from "./streams.ts";

/** Every fixed subject of Lapse; those with a variable part have a function below. */
export const SUBJECTS = {
  activity: {
    table: {
      read: "activity.table.read",
      written: "activity.table.written",
      maintained: "activity.table.maintained",
      changed: "activity.table.changed",
    },
    file: {
      written: "activity.file.written",
      removed: "activity.file.removed",
      uploadStarted: "activity.file.upload_started",
      uploadEnded: "activity.file.upload_ended",
    },
  },
  catalog: {
    table: {
      created: "catalog.table.created",
      changed: "catalog.table.changed",
      dropped: "catalog.table.dropped",
      restored: "catalog.table.restored",
      kept: "catalog.table.kept",
      purged: "catalog.table.purged",
    },
    environment: {
      created: "catalog.environment.created",
      changed: "catalog.environment.changed",
      deleted: "catalog.environment.deleted",
    },
  },
  policy: {
    table: { set: "policy.table.set", cleared: "policy.table.cleared" },
    environment: { set: "policy.environment.set", cleared: "policy.environment.cleared" },
    bucket: { set: "policy.bucket.set", cleared: "policy.bucket.cleared" },
    entity: { set: "policy.entity.set", cleared: "policy.entity.cleared" },
  },
  expiry: { tableDue: "expiry.table.due", filePass: "expiry.file.pass" },
  run: { opened: "run.opened", phase: "run.phase", closed: "run.closed" },
  handoff: {
    enqueued: "handoff.enqueued",
    claimed: "handoff.claimed",
    confirmed: "handoff.confirmed",
    failed: "handoff.failed",
    finalized: "handoff.finalized",
  },
} as const;

/** `decision.<service>.<TYPE>`, e.g. `decision.catalog.TABLE_DROPPED`. */
export const decisionSubject = (service: string, type: string): string =>
  `decision.${subjectToken(service)}.${subjectToken(type)}`;

/** `work.entity.<datastore>`. */
export const workEntitySubject = (datastore: string): string =>
  `work.entity.${subjectToken(datastore)}`;

/** `parked.<STREAM>`. */
export const parkedSubject = (stream: string): string => `parked.${subjectToken(stream)}`;

const PLAIN = /^[A-Za-z0-9_-]+$/;

/**
 * Data as one token of a subject. What is neither a letter, digit, `_` nor `-` becomes `=XX` per UTF-8
 * byte, so that a name with a dot or a `*` can never reach another subject; two values never share a token.
 *
 * @throws invalid `SUBJECT_TOKEN_EMPTY` for an empty value.
 */
export function subjectToken(value: string): string {
  if (PLAIN.test(value)) return value;
  if (value === "") throw invalid("SUBJECT_TOKEN_EMPTY", "a part of a subject must not be empty");
  return Array.from(new TextEncoder().encode(value), (byte) => {
    const char = String.fromCharCode(byte);
    return PLAIN.test(char) ? char : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/** Whether `subject` is one that `filter` (with `*` and `>`) stands for. */
export function matchesSubject(filter: string, subject: string): boolean {
  const wanted = filter.split(".");
  const tokens = subject.split(".");
  for (const [index, token] of wanted.entries()) {
    if (token === ">") return tokens.length > index;
    if (index >= tokens.length || (token !== "*" && token !== tokens[index])) return false;
  }
  return wanted.length === tokens.length;
}

/** The stream that takes `subject`; undefined: none of Lapse's does. */
export const streamOf = (subject: string): StreamName | undefined =>
  STREAM_NAMES.find((name) =>
    STREAMS[name].subjects.some((filter) => matchesSubject(filter, subject)),
  );

/**
 * The narrowest single filter that covers all of `filters`. A server before 2.10 takes one filter per
 * consumer only, so the rest is sorted out on arrival, on every version alike.
 */
export function commonFilter(filters: readonly [string, ...string[]]): string {
  const [first, ...others] = filters.map((filter) => filter.split("."));
  if (!first) return ">";
  if (others.length === 0) return first.join(".");
  const shared: string[] = [];
  for (const [index, token] of first.entries()) {
    if (token === ">" || others.some((other) => other[index] !== token)) break;
    shared.push(token);
  }
  if ([first, ...others].every(({ length }) => length === shared.length)) return shared.join(".");
  // `>` stands for at least one token.
  while ([first, ...others].some(({ length }) => length <= shared.length)) shared.pop();
  return [...shared, ">"].join(".");
}
