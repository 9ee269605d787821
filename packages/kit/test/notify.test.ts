import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { onNotify, type Stoppable } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import { type Database, endConnections, openDatabase, silent } from "./database.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase({ name: "kit-notify" });
});
afterAll(() => database.close());

/** Listens, and notes what it hears. */
async function listening(channel: string): Promise<{ heard: string[]; listener: Stoppable }> {
  const heard: string[] = [];
  const note = (payload: string) => void heard.push(payload);
  const listener = onNotify(database.pool, channel, note, { log: silent });
  await waitFor(() => heard.length === 1);
  return { heard, listener };
}
const notify = (channel: string, payload: string) =>
  database.pool.query("select pg_notify($1, $2)", [channel, payload]);

test("hears every notification on its channel, and once that it listens", async () => {
  const { heard, listener } = await listening("outbox");
  await notify("outbox", "one");
  await notify("other", "not for us");
  await notify("outbox", "two");
  await waitFor(() => heard.length === 3);
  expect(heard).toEqual(["", "one", "two"]);
  await listener.stop();
});

test("listens again after its connection was lost, and says so since something may be missed", async () => {
  const { heard, listener } = await listening("outbox");
  await endConnections(database.pool);
  await waitFor(() => heard.length === 2);
  await notify("outbox", "after");
  await waitFor(() => heard.length === 3);
  expect(heard).toEqual(["", "", "after"]);
  await listener.stop();
});

test("a channel's name is a name, whatever is in it", async () => {
  const channel = 'a"; drop table x; --';
  const { heard, listener } = await listening(channel);
  await notify(channel, "one");
  await waitFor(() => heard.length === 2);
  await listener.stop();
});

test("when stopped, hears nothing more and leaves no connection", async () => {
  const { heard, listener } = await listening("outbox");
  await listener.stop();
  await notify("outbox", "late");
  const { rows } = await database.pool.query(
    `select count(*)::int as listening from pg_stat_activity
      where datname = current_database() and query like 'listen%'`,
  );
  expect(rows).toEqual([{ listening: 0 }]);
  expect(heard).toEqual([""]);
});
