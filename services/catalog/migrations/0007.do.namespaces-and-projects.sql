-- A deleted environment leaves its row: purged tables, events and the audit log still name it. Its name and its
-- bucket are free for another one.
alter table environment
  add column deleted_at timestamptz(3),
  add column deleted_by text,
  add constraint environment_deleted check ((deleted_at is null) = (deleted_by is null)),
  drop constraint environment_name,
  drop constraint environment_table_bucket;

create unique index environment_name on environment (tenant, name) where deleted_at is null;
-- `a--b` + `c` and `a` + `b--c` spell the same bucket; two tenants must never share one.
create unique index environment_table_bucket on environment (table_bucket) where deleted_at is null;
-- Nor one after the other: what lies in a bucket stays its tenant's.
create index environment_bucket_of on environment (table_bucket, tenant);

-- What stands in the way of deleting an environment or a namespace.
create index catalog_table_present on catalog_table (environment_id, namespace, name) where state <> 'purged';

-- A dotted path is one namespace: `bronze.raw` can be there without `bronze`.
create table namespace (
  environment_id uuid not null references environment,
  path           text collate "C" not null,
  created_by     text not null,
  created_at     timestamptz(3) not null,
  primary key (environment_id, path)
);

insert into namespace (environment_id, path, created_by, created_at)
select distinct on (environment_id, namespace) environment_id, namespace, owner, created_at
from catalog_table where state <> 'purged'
order by environment_id, namespace, created_at;

-- What a version of a project builds; never changes.
create table project_version (
  tenant     text not null,
  project    text collate "C" not null,
  version    text collate "C" not null,
  -- Qualified names, sorted.
  assets     text[] not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  primary key (tenant, project, version)
);

-- The version of a project that is current in an environment (T20).
create table project_deployment (
  environment_id uuid not null references environment,
  project        text collate "C" not null,
  version        text collate "C" not null,
  tenant         text not null,
  deployed_by    text not null,
  deployed_at    timestamptz(3) not null,
  primary key (environment_id, project),
  foreign key (tenant, project, version) references project_version
);

-- The names that current versions build, so that a table is told by one probe. `catalog_table.project_asset` of live
-- tables follows, in the same transaction.
create table deployed_asset (
  environment_id uuid not null,
  namespace      text collate "C" not null,
  name           text collate "C" not null,
  project        text collate "C" not null,
  primary key (environment_id, namespace, name, project),
  foreign key (environment_id, project) references project_deployment on delete cascade
);

create index deployed_asset_of_project on deployed_asset (environment_id, project);
