create table table_snapshot (
  snapshot_id uuid primary key,
  table_id    uuid not null references catalog_table,
  -- 1, 2, 3 … per table.
  sequence    bigint not null check (sequence > 0),
  operation   text not null check (operation in ('append', 'replace', 'maintain')),
  row_count   bigint not null,
  byte_size   bigint not null,
  file_count  integer not null,
  created_by  text not null,
  created_at  timestamptz(3) not null,
  unique (table_id, sequence)
);

-- A path belongs to one commit for ever: a file that was taken out never comes back under its path, so
-- deleting it late, or twice, can only ever hit that very file.
create table data_file (
  table_id     uuid not null references catalog_table,
  -- Below the table's key prefix.
  path         text collate "C" not null,
  byte_size    bigint not null check (byte_size >= 0),
  row_count    bigint not null check (row_count >= 0),
  added_in     bigint not null,
  removed_in   bigint check (removed_in > added_in),
  removed_at   timestamptz(3),
  reclaimed_at timestamptz(3),
  primary key (table_id, path),
  check ((removed_in is null) = (removed_at is null)),
  check (reclaimed_at is null or removed_at is not null)
);

create index data_file_current on data_file (table_id, path) where removed_in is null;
create index data_file_reclaimable on data_file (removed_at, table_id, path)
  where removed_at is not null and reclaimed_at is null;
