import type { Queryable } from "./postgres.ts";

/** An event by its place in the numbering of its publisher and stream. */
export interface EventNumber {
  /** `ce-source`, e.g. `lapse.catalog`. */
  readonly source: string;
  readonly stream: string;
  /** `ce-sequence`, from 1. */
  readonly sequence: bigint;
}

/** Numbers of a publisher and stream that have not come, both ends included. */
export interface MissingRange {
  readonly source: string;
  readonly stream: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** Notes in the transaction of its effect that an event is taken in; "seen": it was before, do nothing. */
export async function trackSequence(
  tx: Queryable,
  source: string,
  stream: string,
  sequence: bigint,
): Promise<"new" | "seen"> {
  const [isNew] = await trackSequences(tx, [{ source, stream, sequence }]);
  return isNew ? "new" : "seen";
}

/**
 * The same for a batch: whether each is new, in the order given; of one that is in it twice, the first is.
 * Transactions over the same publisher and stream go one after the other.
 */
export async function trackSequences(
  tx: Queryable,
  events: readonly EventNumber[],
): Promise<boolean[]> {
  const groups = new Map<string, EventNumber[]>();
  for (const event of events) {
    const key = JSON.stringify([event.source, event.stream]);
    const group = groups.get(key);
    if (group) group.push(event);
    else groups.set(key, [event]);
  }
  const fresh = new Set<EventNumber>();
  // Always in the same order, or two transactions would wait for each other.
  for (const key of [...groups.keys()].sort()) {
    const group = groups.get(key) ?? [];
    const [first] = group;
    if (!first) continue;
    const unseen = await trackGroup(tx, first, [...new Set(group.map(({ sequence }) => sequence))]);
    for (const event of group) if (unseen.delete(event.sequence)) fresh.add(event);
  }
  return events.map((event) => fresh.has(event));
}

async function trackGroup(
  tx: Queryable,
  { source, stream }: EventNumber,
  sequences: readonly bigint[],
): Promise<Set<bigint>> {
  await tx.query(
    "insert into lapse_kit.inbox (source, stream) values ($1, $2) on conflict do nothing",
    [source, stream],
  );
  await tx.query(
    "select from lapse_kit.inbox where source = $1 and stream = $2 for no key update",
    [source, stream],
  );
  const { rows } = await tx.query<{ sequence: bigint }>(
    `with given as (select unnest($3::bigint[]) as sequence), unseen as (
       select g.sequence from given as g
       join lapse_kit.inbox as i on i.source = $1 and i.stream = $2
       where not i.seen @> g.sequence
     ), noted as (
       update lapse_kit.inbox set seen = seen + (
         select range_agg(int8range(sequence, sequence, '[]')) from unseen)
       where source = $1 and stream = $2 and exists (select from unseen)
     )
     select sequence from unseen`,
    [source, stream, sequences],
  );
  return new Set(rows.map(({ sequence }) => sequence));
}

/**
 * Numbers known to be given out and not taken in: between those that were, and up to the last one that the
 * publisher reported. An event on its way looks like one that is lost, so ask again after a moment.
 */
export async function missingRanges(db: Queryable): Promise<MissingRange[]> {
  const { rows } = await db.query<MissingRange & Record<string, unknown>>(
    `select source, stream, lower(hole) as "from", upper(hole) - 1 as "to"
     from lapse_kit.inbox,
       unnest(
         int8multirange(int8range(1, greatest(head + 1, upper(seen), 1))) - seen
       ) as hole
     order by source, stream, lower(hole)`,
  );
  return rows;
}

/** Stores the last number that a publisher reported for a stream. */
export async function noteHead(
  db: Queryable,
  { source, stream, sequence }: EventNumber,
): Promise<void> {
  await db.query(
    `insert into lapse_kit.inbox as i (source, stream, head) values ($1, $2, $3)
     on conflict (source, stream) do update set head = excluded.head where i.head < excluded.head`,
    [source, stream, sequence],
  );
}

/** Stops waiting for numbers that their publisher has deleted; they stay on record as lost. */
export async function giveUpRange(
  tx: Queryable,
  { source, stream, from, to }: MissingRange,
): Promise<void> {
  await tx.query(
    `update lapse_kit.inbox
     set lost = lost + (int8multirange(int8range($3, $4, '[]')) - seen),
         seen = seen + int8multirange(int8range($3, $4, '[]'))
     where source = $1 and stream = $2`,
    [source, stream, from, to],
  );
}

/** Numbers that were given up by {@link giveUpRange}. */
export async function lostRanges(db: Queryable): Promise<MissingRange[]> {
  const { rows } = await db.query<MissingRange & Record<string, unknown>>(
    `select source, stream, lower(hole) as "from", upper(hole) - 1 as "to"
     from lapse_kit.inbox, unnest(lost) as hole
     order by source, stream, lower(hole)`,
  );
  return rows;
}
