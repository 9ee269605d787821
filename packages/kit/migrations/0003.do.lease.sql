-- Who may do what only one process at a time may do, by the clock of this database.
create table lapse_kit.lease (
  name text primary key,
  holder text not null,
  -- Grows with each take-over; an effect is refused when it carries an old one.
  token bigint not null,
  expires_at timestamptz(3) not null
);
