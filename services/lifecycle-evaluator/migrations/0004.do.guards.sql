-- A pause is a tenant's own: none of its tables is picked meanwhile (T25).
create table sweep_pause (
  tenant    text primary key,
  paused_by text not null,
  reason    text not null,
  paused_at timestamptz(3) not null
);

insert into sweep_pause (tenant, paused_by, reason, paused_at)
select distinct e.tenant, c.paused_by, c.pause_reason, now()
from environment_state e cross join sweep_control c
where c.paused and e.change_version > 0;

alter table sweep_control drop column paused, drop column paused_by, drop column pause_reason;

alter table sweep
  -- Whose tables it serves; '*': everybody's, as the schedule does.
  add column tenant text not null default '*',
  add column requested_at timestamptz(3);

update sweep set requested_at = now() where status = 'requested';
alter table sweep alter column tenant drop default;
alter table sweep add check (status <> 'requested' or requested_at is not null);

-- Whoever of a tenant asks while one waits is given that one.
drop index sweep_one_requested;
create unique index sweep_one_requested on sweep (tenant) where status = 'requested';
create index sweep_by_tenant on sweep (tenant, sweep_id);

-- A sweep as each tenant sees it.
create table sweep_tenant (
  sweep_id          uuid not null references sweep on delete cascade,
  tenant            text not null,
  -- Tables issued.
  due               integer not null default 0 check (due >= 0),
  -- Whether the cap left some of its tables to the next sweep.
  capped            boolean not null default false,
  -- Names of environments that the breaker held back.
  held_environments text[] not null default '{}',
  primary key (sweep_id, tenant)
);

insert into sweep_tenant (sweep_id, tenant, due, capped)
select c.sweep_id, c.tenant, count(*), s.capped
from sweep_candidate c join sweep s on s.sweep_id = c.sweep_id
group by c.sweep_id, c.tenant, s.capped;

alter table sweep drop column due, drop column capped;

alter table sweep_tally add column tenant text;
truncate sweep_tally;
alter table sweep_tally drop constraint sweep_tally_pkey, add primary key (sweep_id, tenant, outcome, reason);

insert into sweep_tally (sweep_id, tenant, outcome, reason, tables)
select sweep_id, tenant, outcome, reason, count(*)
from sweep_candidate
where outcome in ('dropped', 'kept', 'failed')
group by sweep_id, tenant, outcome, reason;

-- Environments of which too much was due at once (T26).
create table sweep_hold (
  hold_id        uuid primary key,
  tenant         text not null,
  kind           text not null check (kind in ('breaker')),
  environment_id uuid not null,
  environment    text not null,
  -- A confirmation covers what expires at or before it.
  horizon        timestamptz(3) not null,
  due            integer not null,
  tables         integer not null,
  -- Above which it holds.
  share          double precision not null,
  raised_at      timestamptz(3) not null,
  confirmed_by   text,
  confirmed_at   timestamptz(3),
  -- The share has fallen by itself, or all that the confirmation covers is done.
  ended_at       timestamptz(3),
  check (num_nonnulls(confirmed_by, confirmed_at) in (0, 2))
);

create unique index sweep_hold_waiting on sweep_hold (environment_id)
  where confirmed_at is null and ended_at is null;
create index sweep_hold_open on sweep_hold (tenant) where ended_at is null;
create index sweep_hold_ended on sweep_hold (ended_at) where ended_at is not null;

-- Events of one table may carry the same version: then the one that was said later counts.
alter table table_state add column retention_sequence bigint not null default 0;
