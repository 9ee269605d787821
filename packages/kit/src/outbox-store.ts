import { encodeHeaders } from "./cloud-events.ts";
import { PROTOBUF } from "./event-body.ts";
import type { Queryable } from "./postgres.ts";

/** An event as a relay sends it. */
export interface StoredEvent {
  readonly id: string;
  readonly subject: string;
  readonly type: string;
  readonly eventSubject: string | null;
  readonly traceparent: string | null;
  readonly body: Buffer;
  readonly createdAt: Date;
  readonly sequence: bigint;
}

const COLUMNS = `id, subject, type, event_subject as "eventSubject", traceparent, body,
  created_at as "createdAt", sequence`;

/** The headers it is sent with; `source` is `lapse.<service>`. */
export const eventHeaders = (event: StoredEvent, source: string): Record<string, string> =>
  encodeHeaders({
    id: event.id,
    type: event.type,
    source,
    time: event.createdAt,
    subject: event.eventSubject ?? undefined,
    sequence: event.sequence,
    contentType: PROTOBUF,
    traceparent: event.traceparent ?? undefined,
  });

const WAITING = `
  select id, stream, position from lapse_kit.outbox
  where sequence is null and position > $1 order by position limit $2`;

const NOTE_STREAMS = `
  insert into lapse_kit.outbox_stream (stream)
  select distinct stream from (${WAITING}) as waiting on conflict do nothing`;

const LOCK_STREAMS = "select from lapse_kit.outbox_stream order by stream for update";

const NUMBER = `
  with waiting as (
    select id, stream, position, row_number() over (partition by stream order by position) as nth
    from (${WAITING}) as first
  ), numbered as (
    update lapse_kit.outbox as o
    set sequence = s.last_sequence + w.nth
    from waiting as w join lapse_kit.outbox_stream as s using (stream)
    where o.id = w.id
    returning o.stream, o.sequence, o.position
  ), moved as (
    update lapse_kit.outbox_stream as s set last_sequence = c.last
    from (select stream, max(sequence) as last from numbered group by stream) as c
    where c.stream = s.stream
  )
  select count(*)::int as count, max(position) as last from numbered`;

/** What a round of numbering did: how many events, and the position of the last. */
export interface Numbered {
  readonly count: number;
  readonly last: bigint;
}

/**
 * Gives up to `limit` committed events after a position their numbers, in the order they were written, after
 * those given out before. In a transaction, READ COMMITTED: what another relay numbered is seen once its lock
 * is had.
 */
export async function numberEvents(
  tx: Queryable,
  { after, limit }: { after: bigint; limit: number },
): Promise<Numbered> {
  const none = { count: 0, last: after };
  const { rows: some } = await tx.query(WAITING, [after, 1]);
  if (some.length === 0) return none;
  await tx.query(NOTE_STREAMS, [after, limit]);
  await tx.query(LOCK_STREAMS);
  const { rows } = await tx.query<{ count: number; last: bigint | null }>(NUMBER, [after, limit]);
  const [row] = rows;
  return row ? { count: row.count, last: row.last ?? after } : none;
}

/** What to lock for being the one that publishes a stream. */
const PUBLISHER_LOCK = 0x6c70;

/** Whether this transaction is the one that publishes `stream`; until it ends nobody else does. */
export async function lockForPublishing(tx: Queryable, stream: string): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    "select pg_try_advisory_xact_lock($1, hashtext($2)) as locked",
    [PUBLISHER_LOCK, stream],
  );
  return rows[0]?.locked ?? false;
}

/** Numbered events that are due to be sent, in order, with a number above `after`. */
export async function unsentEvents(
  tx: Queryable,
  { stream, after, limit }: { stream: string; after: bigint; limit: number },
): Promise<StoredEvent[]> {
  const { rows } = await tx.query<StoredEvent & Record<string, unknown>>(
    `select ${COLUMNS} from lapse_kit.outbox
     where stream = $1 and sequence > $2 and published_at is null
       and (retry_at is null or retry_at <= now())
     order by sequence limit $3`,
    [stream, after, limit],
  );
  return rows;
}

export async function markPublished(
  tx: Queryable,
  stream: string,
  sequences: readonly bigint[],
): Promise<void> {
  if (sequences.length === 0) return;
  await tx.query(
    `update lapse_kit.outbox set published_at = clock_timestamp()
     where stream = $1 and sequence = any($2::bigint[])`,
    [stream, sequences],
  );
}

/** Leaves events out for a minute, so that those behind them go on. */
export async function postpone(
  tx: Queryable,
  stream: string,
  sequences: readonly bigint[],
): Promise<void> {
  if (sequences.length === 0) return;
  await tx.query(
    `update lapse_kit.outbox set retry_at = clock_timestamp() + interval '1 minute'
     where stream = $1 and sequence = any($2::bigint[])`,
    [stream, sequences],
  );
}

/** Says that a relay looks by itself for the next half second, so that writers need not notify it. */
export async function stayAwake(db: Queryable): Promise<void> {
  await db.query(
    `update lapse_kit.outbox_relay set awake_until = clock_timestamp() + interval '500 ms'
     where awake_until < clock_timestamp() + interval '250 ms'`,
  );
}

/** A stream this service has published to. */
export interface OutboxStream {
  readonly stream: string;
  readonly lastSequence: bigint;
  readonly firstKeptSequence: bigint;
}

export async function outboxStreams(db: Queryable): Promise<OutboxStream[]> {
  const { rows } = await db.query<OutboxStream & Record<string, unknown>>(
    `select stream, last_sequence as "lastSequence", first_kept_sequence as "firstKeptSequence"
     from lapse_kit.outbox_stream order by stream`,
  );
  return rows;
}

/** How many events are committed and not acknowledged by the broker, and since when the oldest. */
export async function unsentState(
  db: Queryable,
): Promise<{ readonly count: bigint; readonly oldest: Date | null; readonly now: Date }> {
  const { rows } = await db.query<{ count: bigint; oldest: Date | null; now: Date }>(
    `select sum(count)::bigint as count, min(oldest) as oldest, now() as now from (
       select count(*) as count, min(created_at) as oldest from lapse_kit.outbox
       where sequence is null
       union all
       select count(*), min(created_at) from lapse_kit.outbox
       where published_at is null and sequence is not null
     ) as parts`,
  );
  const [row] = rows;
  if (!row) throw new Error("counting the outbox gave no row");
  return row;
}

/** Events of a stream with `from` <= number <= `to`, in order. */
export async function eventsBetween(
  db: Queryable,
  { stream, from, to, limit }: { stream: string; from: bigint; to: bigint; limit: number },
): Promise<StoredEvent[]> {
  const { rows } = await db.query<StoredEvent & Record<string, unknown>>(
    `select ${COLUMNS} from lapse_kit.outbox
     where stream = $1 and sequence between $2 and $3 order by sequence limit $4`,
    [stream, from, to, limit],
  );
  return rows;
}
