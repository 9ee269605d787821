-- Answers to calls that carried an idempotency key, so that a repeated call gets the same one.
create table lapse_kit.idempotency (
  tenant text not null,
  method text not null,
  key text not null,
  request_hash bytea not null,
  -- Null only within the transaction that computes it.
  response bytea,
  created_at timestamptz(3) not null default now(),
  primary key (tenant, method, key)
);

create index idempotency_age on lapse_kit.idempotency (created_at);
