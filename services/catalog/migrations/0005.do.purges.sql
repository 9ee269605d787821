-- One row per table in state `purging`: who deletes its files now, and when it is tried again after a failure.
create table table_purge (
  table_id         uuid primary key references catalog_table,
  -- The claim: a new one per attempt, so that a worker that lost it notices.
  claim            uuid,
  claimed_until    timestamptz(3),
  attempts         integer not null default 0,
  not_before       timestamptz(3) not null,
  last_error       text,
  failure_reported boolean not null default false,
  check ((claim is null) = (claimed_until is null))
);

create index table_purge_next on table_purge (not_before, table_id);
