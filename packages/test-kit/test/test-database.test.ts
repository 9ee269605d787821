import { afterAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { type TestDatabase, testDatabase } from "../src/index.ts";

const made: TestDatabase[] = [];
let migrated = 0;

// One per template, however many databases are cloned from it.
async function migrateOnce(url: string): Promise<void> {
  migrated += 1;
  await query(url, "CREATE TABLE thing (id bigint PRIMARY KEY)");
}

async function fresh(name: string, migrations = migrateOnce): Promise<string> {
  const database = await testDatabase({ migrations, name });
  made.push(database);
  return database.url;
}

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

afterAll(() => Promise.all(made.map(({ drop }) => drop())));

describe("testDatabase", () => {
  test("gives each caller a migrated database of its own from one template", async () => {
    const [first, second] = await Promise.all([fresh("own"), fresh("own")]);
    await query(first, "INSERT INTO thing VALUES (1)");
    expect((await query(second, "SELECT FROM thing")).rowCount).toBe(0);
    expect(migrated).toBe(1);
  });

  test("connects as an owner who is no superuser", async () => {
    const url = await fresh("Owner's rights!");
    const { rows } = await query(url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user");
    expect(rows).toEqual([{ rolsuper: false }]);
    await query(url, "ALTER TABLE thing ADD COLUMN more text");
  });

  test("does not reuse the template of migrations that failed", async () => {
    let attempts = 0;
    const failsAtFirst = async (url: string) => {
      attempts += 1;
      await query(url, "CREATE TABLE half (id bigint)");
      if (attempts === 1) throw new Error("migration failed");
    };
    await expect(fresh("fails at first", failsAtFirst)).rejects.toThrow("migration failed");
    const url = await fresh("fails at first", failsAtFirst);
    expect((await query(url, "SELECT FROM half")).rowCount).toBe(0);
  });

  test("drops a database that is still in use", async () => {
    const { url, drop } = await testDatabase({ migrations: migrateOnce, name: "in use" });
    const client = new pg.Client({ connectionString: url });
    const lost = new Promise((resolve) => client.on("error", resolve));
    await client.connect();
    await drop();
    await lost;
    await expect(query(url, "SELECT")).rejects.toThrow("does not exist");
  });
});
