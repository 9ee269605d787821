-- Names sort and compare by bytes (collation "C"): keyset cursors and prefix ranges need one fixed order.

create table environment (
  environment_id uuid primary key,
  tenant         text not null,
  name           text collate "C" not null,
  protected      boolean not null default false,
  change_version bigint not null default 1 check (change_version > 0),
  policy_version bigint not null default 0 check (policy_version between 0 and change_version),
  table_bucket   text not null,
  created_by     text not null,
  created_at     timestamptz(3) not null,
  constraint environment_name unique (tenant, name),
  -- `a--b` + `c` and `a` + `b--c` spell the same bucket; two tenants must never share one.
  constraint environment_table_bucket unique (table_bucket)
);

create table catalog_table (
  table_id          uuid primary key,
  tenant            text not null,
  environment_id    uuid not null references environment,
  namespace         text collate "C" not null,
  name              text collate "C" not null,
  kind              text not null check (kind in ('managed', 'view', 'external', 'artifact')),
  state             text not null check (state in ('staged', 'live', 'dropped', 'purging', 'purged')),
  owner             text not null,
  description       text not null default '',
  columns           jsonb not null default '[]',
  bucket            text,
  -- In normal form: no empty, `.` or `..` segment, a slash at its end, so that "starts with" means "lies below".
  key_prefix        text collate "C" check (
    key_prefix ~ '^([^/]+/)+$' and key_prefix !~ '(^|/)\.{1,2}/'
  ),
  change_version    bigint not null check (change_version > 0),
  retention_version bigint not null default 0 check (retention_version between 0 and change_version),
  project_asset     boolean not null default false,
  snapshot_id       uuid,
  snapshot_sequence bigint not null default 0,
  row_count         bigint not null default 0 check (row_count >= 0),
  byte_size         bigint not null default 0 check (byte_size >= 0),
  file_count        integer not null default 0 check (file_count >= 0),
  created_at        timestamptz(3) not null,
  last_changed_at   timestamptz(3) not null,
  restored_at       timestamptz(3),
  dropped_at        timestamptz(3),
  dropped_by        text,
  drop_reason       text check (drop_reason in ('retention', 'request')),
  undo_until        timestamptz(3),
  purged_at         timestamptz(3),
  -- Only managed tables have files of their own.
  check ((kind = 'managed') = (bucket is not null)),
  check ((bucket is null) = (key_prefix is null)),
  -- No table can be dropped without a moment at which it is purged, nor live with one.
  check ((dropped_at is null) = (undo_until is null) and (dropped_at is null) = (drop_reason is null)),
  check (state not in ('staged', 'live') or dropped_at is null),
  check (state <> 'dropped' or dropped_at is not null),
  check ((state = 'purged') = (purged_at is not null))
);

-- A staged table reserves no name; a dropped one has given its name up.
create unique index catalog_table_live_name on catalog_table (environment_id, namespace, name) where state = 'live';
create index catalog_table_dropped on catalog_table (environment_id, dropped_at desc, table_id desc)
  where state in ('dropped', 'purging');
create index catalog_table_generations on catalog_table (environment_id, namespace, name, dropped_at desc)
  where dropped_at is not null;
create index catalog_table_undo_until on catalog_table (undo_until, table_id) where state = 'dropped';
create index catalog_table_staged on catalog_table (created_at, table_id) where state = 'staged';
create index catalog_table_location on catalog_table (bucket, key_prefix) where state <> 'purged';
