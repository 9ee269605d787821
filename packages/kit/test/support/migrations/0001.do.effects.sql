-- Where tests keep what a handler did.
create table effect (
  nth bigint generated always as identity primary key,
  key text not null,
  value text not null default ''
);
