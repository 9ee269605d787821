-- A table's own rule, or explicitly none (rule_kind is null), as of a retention_version that the
-- catalog gave out. Version 0: none was ever given out.
create table table_retention (
  table_id uuid primary key,
  tenant text not null,
  environment_id uuid not null,
  rule_kind text,
  days integer,
  on_date date,
  set_by text,
  set_at timestamptz(3),
  retention_version bigint not null,
  constraint table_retention_version_not_negative check (retention_version >= 0),
  constraint table_retention_is_one_rule check (
    case
      when rule_kind is null then num_nonnulls(days, on_date, set_by, set_at) = 0
      when set_by is null or set_at is null then false
      when rule_kind = 'days' then on_date is null and days is not null and days between 1 and 3650
      when rule_kind = 'on' then days is null and on_date is not null
      when rule_kind = 'never' then days is null and on_date is null
      else false
    end
  )
);

-- An environment's rule, or that it is off (days is null), as of a policy_version that the catalog
-- gave out. Nobody has ever set one where set_by is null.
create table environment_retention (
  environment_id uuid primary key,
  tenant text not null,
  days integer,
  set_by text,
  set_at timestamptz(3),
  policy_version bigint not null,
  constraint environment_retention_version_not_negative check (policy_version >= 0),
  constraint environment_retention_days_in_range check (days between 1 and 3650),
  constraint environment_retention_is_set_by_someone check (
    (set_by is null) = (set_at is null) and (days is null or set_by is not null)
  )
);
