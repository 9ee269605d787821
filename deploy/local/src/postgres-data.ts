import {
  chown,
  lstat,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { LocalError } from "./local-error.ts";
import { type PostgresBinaries, sharedFolder } from "./postgres-binaries.ts";
import { canDo, type SystemUser } from "./postgres-user.ts";
import { readIfThere } from "./private-file.ts";
import { runCommand } from "./run-command.ts";

/** The name of a cluster's superuser. */
export const superuser = "postgres";

/**
 * Who owns the cluster in `dir`, where root looks: it must run as that user, whoever was chosen at the
 * time. `undefined` where there is none yet, and for everybody else, who can only run it as themselves.
 */
export async function clusterOwner(dir: string): Promise<SystemUser | undefined> {
  const data = join(dir, "postgres", "data");
  if (process.getuid?.() !== 0 || (await kindOf(data)) === "absent") return undefined;
  const { uid, gid } = await stat(data);
  return { name: `number ${uid}`, uid, gid };
}

/**
 * The folder for PostgreSQL's data: `<dir>/postgres`, owned by `user`. Where `user` cannot reach that
 * (root's home is closed to others), it is a link to a folder below `shared`, made on first use.
 */
export async function postgresFolder(
  dir: string,
  user: SystemUser | undefined,
  shared = sharedFolder,
): Promise<string> {
  const place = join(dir, "postgres");
  const kind = await kindOf(place);
  if (kind === "link") return realpath(place);
  if (kind === "absent") await mkdir(place, { mode: 0o700 });
  if (user === undefined) return realpath(place);
  await chown(place, user.uid, user.gid);
  if (await canDo(user, "-w", place)) return realpath(place);
  if ((await kindOf(join(place, "data"))) !== "absent") {
    throw new LocalError(
      `PostgreSQL runs as the system user ${user.name}, who can no longer reach its data in ${place}. ` +
        "Open the folders above it for passing through (chmod o+x), or choose another LAPSE_LOCAL__DIR.",
    );
  }
  const elsewhere = await makeElsewhere(shared, user);
  await rmdir(place);
  await symlink(elsewhere, place);
  return realpath(elsewhere);
}

/**
 * Makes an empty cluster in `<folder>/data` unless there is one; returns that path. Interrupted at any
 * point it leaves nothing that the next call would take for a cluster.
 */
export async function initialiseCluster(
  binaries: PostgresBinaries,
  folder: string,
  options: {
    readonly user: SystemUser | undefined;
    readonly password: string;
    readonly durable: boolean;
  },
): Promise<string> {
  const data = join(folder, "data");
  if ((await kindOf(data)) !== "absent") return data;
  const fresh = join(folder, "data.new");
  const passwordFile = join(folder, "initdb-password");
  await rm(fresh, { recursive: true, force: true });
  try {
    await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (options.user) await chown(passwordFile, options.user.uid, options.user.gid);
    const made = await runCommand(
      binaries.initdb,
      [
        `--pgdata=${fresh}`,
        `--username=${superuser}`,
        `--pwfile=${passwordFile}`,
        "--auth-host=scram-sha-256",
        "--auth-local=reject",
        // The same order of text on every machine, whatever locales it has.
        "--encoding=UTF8",
        "--no-locale",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions",
        ...(options.durable ? [] : ["--no-sync"]),
      ],
      {
        cwd: folder,
        env: {},
        ...(options.user && { uid: options.user.uid, gid: options.user.gid }),
      },
    );
    if (made.code !== 0) {
      throw new LocalError(`initdb could not make a cluster in ${folder}: ${made.stderr.trim()}`);
    }
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(fresh, data);
  return data;
}

/** The pid in the data folder's `postmaster.pid`; `undefined` where no server is or was killed there. */
export async function postmasterPid(data: string): Promise<number | undefined> {
  const text = await readIfThere(join(data, "postmaster.pid"));
  const pid = Number(text?.split("\n")[0]);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

async function makeElsewhere(shared: string, user: SystemUser): Promise<string> {
  await mkdir(shared, { recursive: true, mode: 0o755 });
  const folder = await mkdtemp(join(shared, "postgres-"));
  await chown(folder, user.uid, user.gid);
  if (await canDo(user, "-w", folder)) return folder;
  await rmdir(folder);
  throw new LocalError(
    `PostgreSQL runs as the system user ${user.name}, who can reach neither the data folder nor ${shared}. ` +
      "Choose a LAPSE_LOCAL__DIR that every user may pass through, such as one below /srv.",
  );
}

async function kindOf(path: string): Promise<"absent" | "link" | "other"> {
  try {
    return (await lstat(path)).isSymbolicLink() ? "link" : "other";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "absent";
    throw error;
  }
}
