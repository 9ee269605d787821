-- How far each stream is folded. Moves in the transaction that applies the messages, so a message counts once.
create table fold_position (
  stream            text primary key,
  sequence          bigint not null check (sequence >= 0),
  -- Another value is another stream of the same name.
  stream_created_at timestamptz(3) not null
);

-- Reads per day (T17): deleted after their keeping time. `table_state.last_read_at` stays.
create table table_read_day (
  table_id uuid not null,
  day      date not null,
  source   text not null,
  reads    bigint not null check (reads > 0),
  primary key (table_id, day, source)
) with (fillfactor = 80);

create index table_read_day_by_day on table_read_day (day);

-- Which systems have reported reads of a table, and when last (T18): kept as long as the table.
create table table_read_source (
  table_id         uuid not null,
  source           text not null,
  last_reported_at timestamptz(3) not null,
  primary key (table_id, source)
) with (fillfactor = 80);
