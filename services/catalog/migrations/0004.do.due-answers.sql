-- What the catalog answered to each due event: an event delivered again is answered once.
create table due_answer (
  sweep_id    text not null,
  table_id    uuid not null,
  -- "dropped", or why it was kept.
  answer      text not null,
  answered_at timestamptz(3) not null,
  primary key (sweep_id, table_id)
);

create index due_answer_answered_at on due_answer (answered_at);
