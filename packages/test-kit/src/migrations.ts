import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { runDirectory } from "./run-directory.ts";

/**
 * What brings an empty database to a service's schema: the absolute path of its migrations folder (the
 * kit's own tables come with it), or a function that is given the database's URL.
 */
export type Migrations = string | ((url: string) => Promise<void>);

// What @lapse/kit applies before a service's own files.
const kitMigrations = join(import.meta.dirname, "..", "..", "kit", "migrations");

/**
 * A name for the schema that the migrations make: the same for the same files, so that one template
 * serves them all. A function is known by `name` and its text, within this run.
 */
export async function schemaKey(migrations: Migrations, name: string): Promise<string> {
  const hash = createHash("sha256");
  if (typeof migrations === "string") {
    for (const folder of [kitMigrations, migrations]) {
      for (const file of (await readdir(folder)).sort()) {
        hash
          .update(`${file}\0`)
          .update(await readFile(join(folder, file)))
          .update("\0");
      }
    }
  } else {
    hash.update(`${basename(runDirectory())}\0${name}\0${migrations}`);
  }
  return hash.digest("hex").slice(0, 16);
}

/** Applies the migrations to the database at `url`. */
export async function applyMigrations(migrations: Migrations, url: string): Promise<void> {
  if (typeof migrations !== "string") return migrations(url);
  const { createLogger, migrate } = await import("@lapse/kit");
  const log = createLogger({ service: "test-kit", level: "warn" });
  await migrate({ url, directory: migrations, log });
}
