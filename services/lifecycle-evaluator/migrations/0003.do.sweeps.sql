create table sweep (
  sweep_id     uuid primary key,
  status       text not null check (status in ('requested', 'running', 'completed', 'held', 'interrupted')),
  -- Empty: by the schedule.
  requested_by text not null default '',
  started_at   timestamptz(3),
  finished_at  timestamptz(3),
  -- [{"stream": "ACTIVITY", "sequence": "42"}, …]
  fence        jsonb not null default '[]',
  due          integer not null default 0 check (due >= 0),
  capped       boolean not null default false,
  held_reason  text not null default '',
  -- How often in a row it was tried and held.
  attempts     integer not null default 1 check (attempts > 0),
  check ((status = 'held') = (held_reason <> '')),
  check ((status = 'requested') = (started_at is null)),
  check ((status in ('requested', 'running')) = (finished_at is null))
);

-- Whoever asks while one waits is given that one; and one runs at a time.
create unique index sweep_one_requested on sweep (status) where status = 'requested';
create unique index sweep_one_running on sweep (status) where status = 'running';
create index sweep_by_start on sweep (started_at);

-- What a sweep issued, and what the catalog answered.
create table sweep_candidate (
  sweep_id    uuid not null references sweep on delete cascade,
  table_id    uuid not null,
  tenant      text not null,
  name        text not null,
  outcome     text not null default 'issued'
    check (outcome in ('issued', 'dropped', 'kept', 'failed', 'unanswered')),
  reason      text not null default '',
  issued_at   timestamptz(3) not null,
  answered_at timestamptz(3),
  primary key (sweep_id, table_id)
);

-- Few at a time, and asked for all the time while a sweep runs.
create index sweep_candidate_open on sweep_candidate (sweep_id, outcome) where outcome in ('issued', 'unanswered');

-- The answers of a sweep, counted as they are folded.
create table sweep_tally (
  sweep_id uuid not null references sweep on delete cascade,
  outcome  text not null check (outcome in ('dropped', 'kept', 'failed')),
  reason   text not null default '',
  tables   integer not null check (tables > 0),
  primary key (sweep_id, outcome, reason)
);

-- One row.
create table sweep_control (
  one_row         boolean primary key default true check (one_row),
  paused          boolean not null default false,
  paused_by       text not null default '',
  pause_reason    text not null default '',
  -- The schedule counts from here.
  last_started_at timestamptz(3)
);

insert into sweep_control default values;
