-- The log of decisions: one hash chain per tenant, appended to and never changed.
create table decision_record (
  tenant text not null,
  -- Position in the tenant's chain, from 1, without gaps.
  seq bigint not null check (seq > 0),
  id uuid not null,
  at timestamptz(3) not null,
  type text not null,
  service text not null,
  -- Empty where a worker decided.
  actor text not null,
  resource_kind text not null,
  resource_id text not null,
  resource_name text not null,
  resource_environment text not null,
  outcome text not null,
  reason text not null,
  details jsonb not null,
  run_id text not null,
  trace_id text not null,
  -- Who sent it, and the number it had there; null where the sender does not number what it sends.
  source text not null,
  source_sequence bigint,
  recorded_at timestamptz(3) not null,
  -- SHA-256 of the record before (32 zero bytes for the first), and of that and this one's canonical form.
  prev_hash bytea not null check (length(prev_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  primary key (tenant, seq),
  constraint decision_record_id_unique unique (id)
);

create index decision_record_newest on decision_record (tenant, at, seq);
create index decision_record_by_type on decision_record (tenant, type, at, seq);
create index decision_record_by_actor on decision_record (tenant, actor, at, seq) where actor <> '';
create index decision_record_by_run on decision_record (tenant, run_id, at, seq) where run_id <> '';
create index decision_record_by_resource_id on decision_record (tenant, resource_id, at, seq)
  where resource_id <> '';
create index decision_record_by_resource_name on decision_record (tenant, resource_name, at, seq)
  where resource_name <> '';

-- The last record of each chain. Appending locks it, so a chain never forks.
create table chain_head (
  tenant text primary key,
  -- 0: nothing has been appended yet.
  seq bigint not null check (seq >= 0),
  hash bytea not null check (length(hash) = 32)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the log of decisions is append-only: % on % is refused', tg_op, tg_table_name
    using errcode = 'restrict_violation';
end
$$;

create trigger decision_record_append_only
  before update or delete or truncate on decision_record
  for each statement execute function refuse_change();

create trigger chain_head_kept
  before delete or truncate on chain_head
  for each statement execute function refuse_change();

create function refuse_step_back() returns trigger language plpgsql as $$
begin
  if new.tenant <> old.tenant or new.seq <= old.seq then
    raise exception 'the head of chain % only moves forward', old.tenant
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

create trigger chain_head_moves_forward
  before update on chain_head
  for each row execute function refuse_step_back();
