-- What applies to every table at once. One row.
create table evaluation_basis (
  one_row         boolean primary key default true check (one_row),
  -- Length of a retention day. Written at start; a change recomputes own_due_at in the same transaction.
  day_seconds     integer not null default 86400 check (day_seconds between 1 and 86400),
  -- Activity from before this instant may have been lost: every table counts as active no earlier than it.
  signal_floor_at timestamptz(3)
);

insert into evaluation_basis default values;

create table environment_state (
  environment_id   uuid primary key,
  tenant           text not null default '',
  name             text not null default '',
  -- An environment the catalog has not spoken of yet keeps its tables.
  protected        boolean not null default true,
  deleted          boolean not null default false,
  -- The catalog's; 0 until its first event.
  change_version   bigint not null default 0 check (change_version >= 0),
  retention_days   integer check (retention_days between 1 and 3650),
  retention_set_by text,
  retention_set_at timestamptz(3),
  -- Of the rule held here, or of its absence; 0: nothing was ever set.
  policy_version   bigint not null default 0 check (policy_version >= 0),
  check (retention_days is null or (retention_set_by is not null and retention_set_at is not null))
);

create index environment_state_by_name on environment_state (tenant, name) where not deleted;

-- One row per table anybody has spoken of. Activity or a rule may arrive before the catalog's event: the
-- row is then `unknown`, keeps what it was told and never expires. A purged table leaves its row for a
-- while, so that what arrives late finds it gone.
create table table_state (
  table_id           uuid primary key,
  tenant             text not null default '',
  environment_id     uuid,
  namespace          text not null default '',
  name               text not null default '',
  kind               text check (kind in ('managed', 'view', 'external', 'artifact')),
  state              text not null default 'unknown'
    check (state in ('unknown', 'staged', 'live', 'dropped', 'purging', 'purged')),
  owner              text not null default '',
  project_asset      boolean not null default false,
  -- The catalog's; 0 until its first event.
  change_version     bigint not null default 0 check (change_version >= 0),
  created_at         timestamptz(3),
  last_changed_at    timestamptz(3),
  restored_at        timestamptz(3),
  last_read_at       timestamptz(3),
  -- The latest of all activity, reads included, and what it was. Only ever moves forward.
  last_activity_at   timestamptz(3),
  last_activity_kind text check (
    last_activity_kind in ('read', 'written', 'maintained', 'changed', 'created', 'restored')
  ),
  rule_kind          text check (rule_kind in ('days', 'on', 'never')),
  rule_days          integer check (rule_days between 1 and 3650),
  rule_on            date,
  rule_set_by        text,
  rule_set_at        timestamptz(3),
  -- Of the rule held here, or of its absence; 0: nothing was ever set.
  retention_version  bigint not null default 0 check (retention_version >= 0),
  -- When the table's own rule makes it due; null where that rule is `never` or there is none.
  own_due_at         timestamptz(3),
  -- When this row was last told anything.
  folded_at          timestamptz(3) not null,
  -- Which rule makes it expire: its own, its environment's, or null where none can. See expires_by().
  expires_by         text check (expires_by in ('table', 'environment')),
  check (
    case
      when rule_kind is null then num_nonnulls(rule_days, rule_on, rule_set_by, rule_set_at) = 0
      when rule_set_by is null or rule_set_at is null then false
      when rule_kind = 'days' then rule_days is not null and rule_on is null
      when rule_kind = 'on' then rule_days is null and rule_on is not null
      else rule_days is null and rule_on is null
    end
  ),
  check (state = 'unknown' or (kind is not null and environment_id is not null and change_version > 0)),
  check (expires_by is null or last_activity_at is not null),
  check ((last_activity_at is null) = (last_activity_kind is null))
);

-- Most overdue first within an environment, by the two ways a table can become due. An environment's rule
-- is added at the query, so a change of it rewrites no row (T8).
create index table_state_due_by_own_rule on table_state (environment_id, own_due_at, table_id)
  where expires_by = 'table' and own_due_at is not null;
create index table_state_due_by_environment on table_state (environment_id, last_activity_at, table_id)
  where expires_by = 'environment';

create index table_state_by_name on table_state (environment_id, name, namespace) where state = 'live';
create index table_state_forgettable on table_state (folded_at) where state in ('unknown', 'purged');

-- Whose rule a table follows that can expire at all. A day that had come when the table was restored no longer
-- counts (T28). @lapse/rules says the same; a test holds the two together. Not a generated column: that
-- would be computed anew with every read of the table, and tripled the cost of folding one.
create function expires_by(
  state text, kind text, project_asset boolean, rule_kind text, rule_on date, restored_at timestamptz
) returns text language sql immutable parallel safe
return case
  when state = 'live' and kind = 'managed' and not project_asset then
    case
      when rule_kind is null then 'environment'
      when rule_kind = 'on' and (rule_on::timestamp at time zone 'UTC') <= restored_at then 'environment'
      else 'table'
    end
end;

-- The instant a table's own rule makes it due. `days` are seconds here, never calendar days, so the zone of
-- the session plays no part.
create function own_due_at(
  rule_kind text, rule_days integer, rule_on date, last_activity_at timestamptz,
  signal_floor_at timestamptz, day_seconds integer
) returns timestamptz language sql stable parallel safe
return case rule_kind
  when 'days' then greatest(last_activity_at, signal_floor_at)
    + make_interval(secs => rule_days::bigint * day_seconds)
  when 'on' then rule_on::timestamp at time zone 'UTC'
end;
