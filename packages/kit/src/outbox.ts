import {
  create,
  type DescMessage,
  type JsonObject,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DecisionOutcome, DecisionSchema } from "@lapse/proto/events";
import { invalid } from "./errors.ts";
import { newId } from "./ids.ts";
import type { Queryable } from "./postgres.ts";
import type { StreamName } from "./streams.ts";
import { decisionSubject } from "./subjects.ts";
import { traceId } from "./trace.ts";

/** An event to be published once the transaction has committed. */
export interface OutboxEvent<Desc extends DescMessage = DescMessage> {
  readonly stream: StreamName;
  readonly subject: string;
  /** CloudEvents type; the name of the message unless given. */
  readonly type?: string;
  readonly schema: Desc;
  readonly message: MessageInitShape<Desc>;
  /** What it is about, e.g. a table id (CloudEvents subject). */
  readonly subjectKey?: string;
  readonly traceparent?: string | undefined;
  /** A new one unless given. */
  readonly id?: string;
}

/** A decision taken or refused, for the audit log (T32). */
export interface DecisionEvent {
  /** The deciding service, e.g. `catalog`. */
  readonly service: string;
  readonly tenant: string;
  /** The principal's subject; undefined when a worker decided by itself. */
  readonly actor?: string | undefined;
  /** UPPER_SNAKE, e.g. `TABLE_DROPPED`. */
  readonly type: string;
  readonly resource: {
    readonly kind: string;
    readonly id: string;
    readonly name?: string;
    readonly environment?: string;
  };
  readonly outcome: "done" | "kept" | "refused" | "failed";
  /** Stable slug, e.g. `retention`, `held`. */
  readonly reason?: string;
  readonly details?: JsonObject;
  readonly runId?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** Relays listen on it. */
export const OUTBOX_CHANNEL = "lapse_outbox";

/** The largest body; well below what NATS takes by default, with room for headers and for parking. */
export const MAX_EVENT_BYTES = 256 * 1024;

/** Writes an event in the caller's transaction; it is published after the commit. Gives its id. */
export async function appendEvent<Desc extends DescMessage>(
  tx: Queryable,
  event: OutboxEvent<Desc>,
): Promise<string> {
  const [id = ""] = await appendEvents(tx, [event]);
  return id;
}

/**
 * The same for many at once, in the order given.
 *
 * @throws invalid `EVENT_TOO_LARGE` before anything is written.
 */
export async function appendEvents<Desc extends DescMessage>(
  tx: Queryable,
  events: readonly OutboxEvent<Desc>[],
): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map(toRow);
  const column = <K extends keyof OutboxRow>(key: K) => rows.map((row) => row[key]);
  await tx.query(APPEND, [
    column("id"),
    column("stream"),
    column("subject"),
    column("type"),
    column("eventSubject"),
    column("traceparent"),
    column("body"),
    OUTBOX_CHANNEL,
  ]);
  return column("id");
}

const APPEND = `
  with added as (
    insert into lapse_kit.outbox (id, stream, subject, type, event_subject, traceparent, body)
    select id, stream, subject, type, event_subject, traceparent, body
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[])
      with ordinality as e (id, stream, subject, type, event_subject, traceparent, body, nth)
    order by nth
  )
  select pg_notify($8, '') from lapse_kit.outbox_relay where awake_until < clock_timestamp()`;

/** Writes a decision in the transaction of its effect. Gives its id, which is the event's too. */
export async function appendDecision(
  tx: Queryable,
  decision: DecisionEvent,
  now: Date,
): Promise<string> {
  const [id = ""] = await appendDecisions(tx, [decision], now);
  return id;
}

/** The same for many at once. */
export async function appendDecisions(
  tx: Queryable,
  decisions: readonly DecisionEvent[],
  now: Date,
): Promise<string[]> {
  return appendEvents(
    tx,
    decisions.map((decision) => decisionEvent(decision, newId(), now)),
  );
}

const OUTCOMES = {
  done: DecisionOutcome.DONE,
  kept: DecisionOutcome.KEPT,
  refused: DecisionOutcome.REFUSED,
  failed: DecisionOutcome.FAILED,
} as const;

function decisionEvent(
  { service, type, resource, outcome, traceparent, ...decision }: DecisionEvent,
  id: string,
  now: Date,
): OutboxEvent<typeof DecisionSchema> {
  return {
    id,
    stream: "DECISION",
    subject: decisionSubject(service, type),
    schema: DecisionSchema,
    subjectKey: resource.id,
    traceparent,
    message: {
      id,
      at: timestampFromDate(now),
      type,
      service,
      tenant: decision.tenant,
      actor: decision.actor ?? "",
      resource: { name: "", environment: "", ...resource },
      outcome: OUTCOMES[outcome],
      reason: decision.reason ?? "",
      details: decision.details ?? {},
      runId: decision.runId ?? "",
      traceId: (traceparent && traceId(traceparent)) ?? "",
    },
  };
}

interface OutboxRow {
  readonly id: string;
  readonly stream: string;
  readonly subject: string;
  readonly type: string;
  readonly eventSubject: string | null;
  readonly traceparent: string | null;
  readonly body: Buffer;
}

function toRow<Desc extends DescMessage>(event: OutboxEvent<Desc>): OutboxRow {
  const bytes = toBinary(event.schema, create(event.schema, event.message));
  if (bytes.length > MAX_EVENT_BYTES) {
    throw invalid(
      "EVENT_TOO_LARGE",
      `an event of ${event.subject} has ${bytes.length} bytes, more than ${MAX_EVENT_BYTES}: shorten its details`,
    );
  }
  return {
    id: event.id ?? newId(),
    stream: event.stream,
    subject: event.subject,
    type: event.type ?? event.schema.typeName,
    eventSubject: event.subjectKey ?? null,
    traceparent: event.traceparent ?? null,
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  };
}
