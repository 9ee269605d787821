-- What this database's clock said when it was last looked at before something was done by it.
create table lapse_kit.clock_watch (
  -- Who looks, e.g. `sweep`.
  use          text primary key,
  last_seen_at timestamptz(3) not null
);

-- A clock that went back or leapt ahead: nothing is done by it for a tenant until somebody of it has confirmed.
create table lapse_kit.clock_hold (
  hold_id      uuid primary key,
  use          text not null,
  tenant       text not null,
  -- What it said at the look before, and at the one that raised this.
  last_seen_at timestamptz(3) not null,
  raised_at    timestamptz(3) not null,
  confirmed_by text,
  confirmed_at timestamptz(3),
  -- Confirmed, or followed by another.
  ended_at     timestamptz(3),
  check (num_nonnulls(confirmed_by, confirmed_at) in (0, 2)),
  check (confirmed_at is null or ended_at is not null)
);

create unique index clock_hold_open on lapse_kit.clock_hold (use, tenant) where ended_at is null;
create index clock_hold_ended on lapse_kit.clock_hold (ended_at) where ended_at is not null;
