-- A read is counted in one small row, table_read_day. Moving a table among those that expire costs ten times
-- that, so it is done for the first read of a day and then as often as `merged_at` falls five minutes behind
-- (mergeAfterMs in read-days.ts): `table_state.last_activity_at` is that much less than the last read at
-- most, and the rest is looked up here (`last_read_at` in table-facts.ts).
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
