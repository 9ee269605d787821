create schema lapse_kit;

comment on schema lapse_kit is 'What every service keeps for messaging and coordination, apart from its own tables.';

-- Events committed with their effect: published from here, then kept for replay.
create table lapse_kit.outbox (
  id uuid primary key,
  -- Order of insertion. Not of commit: a smaller one may become visible later.
  position bigint generated always as identity,
  stream text not null,
  subject text not null,
  type text not null,
  event_subject text,
  traceparent text,
  body bytea not null,
  created_at timestamptz(3) not null default now(),
  -- Without a gap per stream; null until a relay has numbered the row.
  sequence bigint,
  published_at timestamptz(3),
  -- Not to be sent before; set when the broker refused this event and not the others.
  retry_at timestamptz(3)
);

create index outbox_unnumbered on lapse_kit.outbox (position) where sequence is null;
create index outbox_unsent on lapse_kit.outbox (stream, sequence) where published_at is null and sequence is not null;
create unique index outbox_sequence on lapse_kit.outbox (stream, sequence) where sequence is not null;

-- One row per stream that has had an event. Whoever numbers rows locks these first.
create table lapse_kit.outbox_stream (
  stream text primary key,
  last_sequence bigint not null default 0,
  -- Those before have been deleted after their keeping time.
  first_kept_sequence bigint not null default 1
);

-- While a relay looks often by itself, nobody notifies it: NOTIFY makes commits queue behind each other.
create table lapse_kit.outbox_relay (
  only_row boolean primary key default true check (only_row),
  awake_until timestamptz(3) not null default '-infinity'
);

insert into lapse_kit.outbox_relay default values;
