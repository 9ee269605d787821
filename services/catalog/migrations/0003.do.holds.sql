-- Leases that keep a table from being dropped while a write or a pipeline task runs.
create table write_hold (
  hold_id    uuid primary key,
  table_id   uuid not null references catalog_table,
  tenant     text not null,
  kind       text not null check (kind in ('write', 'pipeline_task')),
  holder     text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index write_hold_table on write_hold (table_id, expires_at);
create index write_hold_ended on write_hold (expires_at);
