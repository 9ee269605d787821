-- Which events of each publisher and stream have been taken in, as ranges of their sequence numbers.
create table lapse_kit.inbox (
  source text not null,
  stream text not null,
  seen int8multirange not null default '{}',
  -- Numbers that were given up because their publisher does not keep them any more; part of seen.
  lost int8multirange not null default '{}',
  -- The last number that the publisher is known to have given out.
  head bigint not null default 0,
  primary key (source, stream)
);
