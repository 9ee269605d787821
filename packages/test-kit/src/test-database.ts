import { randomUUID } from "node:crypto";
import pg from "pg";
import { applyMigrations, type Migrations, schemaKey } from "./migrations.ts";
import { postgresAdminUrl } from "./postgres-server.ts";

/** A database of one test file. */
export interface TestDatabase {
  /** As its owner, who is no superuser: what a service has. */
  readonly url: string;
  /** Removes it, whoever is still connected. */
  readonly drop: () => Promise<void>;
}

/** What is in the database, and what it is called (any text; it shows in the database's name). */
export interface TestDatabaseOptions {
  readonly migrations: Migrations;
  readonly name: string;
}

const owner = "lapse_test";

/**
 * A fresh database with the schema of `migrations`, cloned from a template that is migrated once. The
 * server is the run's own, or `TEST_POSTGRES_URL`, which has to be a superuser's.
 */
export async function testDatabase({
  migrations,
  name,
}: TestDatabaseOptions): Promise<TestDatabase> {
  const adminUrl = await postgresAdminUrl();
  const key = await schemaKey(migrations, name);
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .slice(0, 30);
  const database = `lapse_test_${label}_${randomUUID().slice(0, 8)}`;
  await withClient(adminUrl, async (admin) => {
    const template = await ensureTemplate(admin, adminUrl, key, migrations);
    await admin.query(`CREATE DATABASE ${database} TEMPLATE ${template} OWNER ${owner}`);
  });
  return {
    url: ownerUrl(adminUrl, database),
    drop: () =>
      withClient(adminUrl, async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      }),
  };
}

// Under a lock of the server's: whoever comes second finds the template finished. That it is marked
// as a template says so; one whose maker was killed is made again.
async function ensureTemplate(
  admin: pg.Client,
  adminUrl: string,
  key: string,
  migrations: Migrations,
): Promise<string> {
  const template = `lapse_test_template_${key}`;
  await admin.query("SELECT pg_advisory_lock(hashtext('lapse-test-template'))");
  try {
    const found = await admin.query(
      "SELECT FROM pg_database WHERE datname = $1 AND datistemplate",
      [template],
    );
    if (found.rowCount === 0) {
      await ensureOwner(admin);
      await admin.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${template} OWNER ${owner}`);
      await applyMigrations(migrations, ownerUrl(adminUrl, template));
      // Nobody may connect: a template in use cannot be cloned.
      await admin.query(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false IS_TEMPLATE true`);
    }
    return template;
  } finally {
    await admin.query("SELECT pg_advisory_unlock(hashtext('lapse-test-template'))");
  }
}

async function ensureOwner(admin: pg.Client): Promise<void> {
  const found = await admin.query("SELECT FROM pg_roles WHERE rolname = $1", [owner]);
  if (found.rowCount === 0) await admin.query(`CREATE ROLE ${owner}`);
  await admin.query(`ALTER ROLE ${owner} LOGIN NOSUPERUSER PASSWORD '${owner}'`);
}

function ownerUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.username = owner;
  url.password = owner;
  url.pathname = `/${database}`;
  return url.href;
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
