-- A read is counted in one small row, table_read_day. Moving a table among those that expire costs ten times
-- that, so it is done for the first read of a day and then as often as `merged_at` falls a minute behind
-- (MERGE_AFTER_MS in table-activity.ts): `table_state.last_activity_at` is that much less than the last read at
-- most, and last_read_of() says the rest.
alter table table_read_day
  -- The last read of the day by that system, and how much of it table_state has been told.
  add column last_read_at timestamptz(3),
  add column merged_at timestamptz(3);
update table_read_day set
  last_read_at = day::timestamp at time zone 'UTC', merged_at = day::timestamp at time zone 'UTC';
alter table table_read_day
  alter column last_read_at set not null,
  alter column merged_at set not null;

-- Room for the next version of a row beside it: counting a read then touches no index.
alter table table_read_day set (fillfactor = 50);

-- The last read of a table whose history is kept (T17); null: of an earlier day, and in table_state, or never.
create function last_read_of(table_id uuid) returns timestamptz language sql stable parallel safe
return (
  select max(d.last_read_at) from table_read_day d
  where d.table_id = last_read_of.table_id and d.day = (
    select max(latest.day) from table_read_day latest where latest.table_id = last_read_of.table_id)
);
