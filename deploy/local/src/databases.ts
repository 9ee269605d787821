import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { readIfThere, writePrivateFile } from "./private-file.ts";

/**
 * Gives each name a database and a login role of that name that owns it and can do nothing else: it
 * cannot connect to the other databases. Returns the URL of each. May be called at every start.
 * Passwords are kept in `<dir>/database-passwords.json` (0600).
 */
export async function ensureDatabases(
  adminUrl: string,
  names: readonly string[],
  dir: string,
): Promise<Readonly<Record<string, string>>> {
  const passwords = await keepPasswords(join(dir, "database-passwords.json"), names);
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    for (const [name, password] of Object.entries(passwords)) {
      await ensureRole(client, name, password);
      await ensureDatabase(client, name);
    }
    await client.query("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC");
  } finally {
    await client.end();
  }
  return Object.fromEntries(
    names.map((name) => [name, databaseUrl(adminUrl, name, passwords[name] ?? "")]),
  );
}

async function ensureRole(client: pg.Client, name: string, password: string): Promise<void> {
  const role = client.escapeIdentifier(name);
  const found = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [name]);
  if (found.rowCount === 0) await client.query(`CREATE ROLE ${role}`);
  await client.query(
    `ALTER ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${client.escapeLiteral(password)}`,
  );
}

async function ensureDatabase(client: pg.Client, name: string): Promise<void> {
  const database = client.escapeIdentifier(name);
  const found = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
  if (found.rowCount === 0) await client.query(`CREATE DATABASE ${database} OWNER ${database}`);
  await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
}

async function keepPasswords(
  path: string,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const kept = JSON.parse((await readIfThere(path)) ?? "{}") as Record<string, string>;
  const wanted = names.map((name) => [name, kept[name] ?? randomBytes(24).toString("hex")]);
  const passwords = Object.fromEntries(wanted) as Record<string, string>;
  await writePrivateFile(path, `${JSON.stringify({ ...kept, ...passwords }, undefined, 2)}\n`);
  return passwords;
}

function databaseUrl(adminUrl: string, name: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = name;
  url.password = password;
  url.pathname = `/${name}`;
  return url.href;
}
