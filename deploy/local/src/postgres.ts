import { randomBytes } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import pg from "pg";
import type { Launch } from "./launch.ts";
import { LocalError } from "./local-error.ts";
import { postgresBinaries } from "./postgres-binaries.ts";
import {
  clusterOwner,
  initialiseCluster,
  postgresFolder,
  postmasterPid,
  superuser,
} from "./postgres-data.ts";
import { postgresUser } from "./postgres-user.ts";
import { readIfThere, writePrivateFile } from "./private-file.ts";
import {
  isAlive,
  processCommand,
  referTo,
  type StopStep,
  stopProcess,
} from "./process-identity.ts";

/** Where a server keeps its data and how it runs. */
export interface PostgresOptions {
  /** An existing folder; the data goes to `postgres/` in it, the superuser's password beside that. */
  readonly dir: string;
  readonly port: number;
  /** Whether a commit survives a power cut (fsync), not only a kill. Tests do without. */
  readonly durable: boolean;
}

/** A cluster that is ready to be run. */
export interface PreparedPostgres {
  readonly launch: Launch;
  /** The superuser's URL, on the database `postgres`. */
  readonly adminUrl: string;
  readonly dataFolder: string;
}

// SIGINT is PostgreSQL's fast shutdown: sessions are ended, the cluster is left clean. SIGQUIT is immediate.
const stop: readonly StopStep[] = [
  { signal: "SIGINT", waitMs: 20_000 },
  { signal: "SIGQUIT", waitMs: 5_000 },
];

/**
 * Gets a PostgreSQL ready on 127.0.0.1:`port`: the binaries, a system user where root runs this, the
 * cluster, the password. Nothing is started. One call at a time over the same folder.
 */
export async function preparePostgres(options: PostgresOptions): Promise<PreparedPostgres> {
  const user = (await clusterOwner(options.dir)) ?? (await postgresUser());
  const binaries = await postgresBinaries(user);
  const folder = await postgresFolder(options.dir, user);
  const password = await superuserPassword(join(options.dir, "postgres-password"));
  const dataFolder = await initialiseCluster(binaries, folder, { ...options, user, password });
  const adminUrl = `postgres://${superuser}:${password}@127.0.0.1:${options.port}/postgres`;
  return {
    adminUrl,
    dataFolder,
    launch: {
      name: "postgres",
      command: binaries.postgres,
      args: ["-D", dataFolder, ...settings(options).flatMap((setting) => ["-c", setting])],
      env: {},
      cwd: dirname(dataFolder),
      ...(user && { user }),
      beforeStart: () => clearLeftover(dataFolder),
      isReady: () => postgresAnswers(adminUrl),
      stop,
      notable: notablePostgresLine,
    },
  };
}

// A client that comes too early or stays too long is no news, and our own question for readiness is one.
function notablePostgresLine(line: string): string | undefined {
  const fatal = /\b(?:PANIC|FATAL): {2}(?!the database system is ).*/.exec(line);
  return fatal?.[0];
}

function settings({ port, durable }: PostgresOptions): string[] {
  return [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "max_connections=200",
    "log_line_prefix=%m [%p] %q%u@%d ",
    // Commits still reach the operating system, so that they survive the server's own SIGKILL.
    ...(durable ? [] : ["fsync=off", "full_page_writes=off"]),
  ];
}

async function superuserPassword(path: string): Promise<string> {
  const kept = await readIfThere(path);
  if (kept !== undefined) return kept.trim();
  const password = randomBytes(24).toString("hex");
  await writePrivateFile(path, password);
  return password;
}

/**
 * Stops a server that still runs over `dataFolder` although whoever started it is gone, and removes a
 * `postmaster.pid` whose number belongs to an unrelated process by now (PostgreSQL would not start).
 */
export async function clearLeftover(dataFolder: string): Promise<void> {
  const pid = await postmasterPid(dataFolder);
  const running = pid === undefined ? undefined : referTo(pid);
  if (running === undefined) return;
  if (processCommand(running.pid).includes(await realpath(dataFolder))) {
    return stopProcess(running, stop);
  }
  // A process may end between the two looks; PostgreSQL itself copes with the pid of a dead one.
  if (isAlive(running)) await rm(join(dataFolder, "postmaster.pid"), { force: true });
}

/** Whether a server answers queries at `url`. Throws a `LocalError` when it refuses the password. */
export async function postgresAnswers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A connection lost in between is reported here too; the promises below say so as well.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "28P01") {
      throw new LocalError(
        `PostgreSQL at ${new URL(url).host} refuses the password that is kept in postgres-password: ` +
          "put back the file that belongs to this data, or start over in another LAPSE_LOCAL__DIR.",
      );
    }
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
