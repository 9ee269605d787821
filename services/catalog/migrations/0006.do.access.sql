-- Who may do what. Subjects, names and columns sort and compare by bytes (collation "C"), as cursors need.

create table role_binding (
  tenant         text not null,
  subject        text collate "C" not null,
  role           text collate "C" not null
    check (role in ('reader', 'writer', 'data_engineer', 'admin', 'superadmin')),
  -- Null: everywhere in the tenant.
  environment_id uuid references environment,
  granted_by     text not null,
  granted_at     timestamptz(3) not null
);

-- A null is no value to an index, so the binding that holds everywhere has a value here that no environment has.
create unique index role_binding_key on role_binding
  (tenant, subject, role, coalesce(environment_id, '00000000-0000-0000-0000-000000000000'));
create index role_binding_environment on role_binding (environment_id, subject, role)
  where environment_id is not null;

-- Grants, filters and masks of a table stay while it is dropped, where none of them applies, and go with its purge.
create table table_grant (
  table_id       uuid not null references catalog_table,
  subject        text collate "C" not null,
  "right"        text collate "C" not null check ("right" in ('read', 'write', 'drop')),
  -- The table's, which never change: what somebody may read in an environment is found without its tables.
  tenant         text not null,
  environment_id uuid not null references environment,
  granted_by     text not null,
  granted_at     timestamptz(3) not null,
  primary key (table_id, subject, "right")
);

create index table_grant_subject on table_grant (tenant, subject, environment_id, table_id);

create table row_filter (
  table_id    uuid not null references catalog_table,
  name        text collate "C" not null,
  -- A subject, `role:<role>` or `*`.
  applies_to  text not null,
  column_name text not null,
  operator    text not null
    check (operator in ('=', '!=', '<', '<=', '>', '>=', 'in', 'is null', 'is not null')),
  operands    text[] not null,
  set_by      text not null,
  set_at      timestamptz(3) not null,
  primary key (table_id, name)
);

create table column_mask (
  table_id    uuid not null references catalog_table,
  column_name text collate "C" not null,
  applies_to  text collate "C" not null,
  mask        text not null check (mask in ('null', 'redact', 'hash', 'last')),
  set_by      text not null,
  set_at      timestamptz(3) not null,
  primary key (table_id, column_name, applies_to)
);

-- What somebody owns in an environment, in the order of the lists.
create index catalog_table_owner on catalog_table (environment_id, owner, namespace, name) where state = 'live';
create index catalog_table_owner_dropped on catalog_table (environment_id, owner, dropped_at desc, table_id desc)
  where state in ('dropped', 'purging');

create table api_key (
  key_id       uuid primary key,
  tenant       text not null,
  name         text not null,
  roles        text[] not null,
  -- SHA-256 of its secret, which has 256 random bits; the secret itself is kept nowhere.
  secret_hash  bytea not null check (length(secret_hash) = 32),
  created_by   text collate "C" not null,
  created_at   timestamptz(3) not null,
  expires_at   timestamptz(3) not null,
  revoked_at   timestamptz(3),
  revoked_by   text,
  -- Both to the minute: a key in use, or in vain, is not written to at every call.
  last_used_at timestamptz(3),
  refused_at   timestamptz(3),
  check ((revoked_at is null) = (revoked_by is null))
);

create index api_key_tenant on api_key (tenant, key_id);
create index api_key_maker on api_key (tenant, created_by, key_id);
