import { constants } from "node:fs";
import { access, chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ensureDatabases } from "./databases.ts";
import { givenSettings, type SharedEnvironment, serviceEnvironment } from "./environment.ts";
import { adminIdentity, openIssuer, serviceIdentity, type TokenIssuer } from "./keys.ts";
import type { Launch } from "./launch.ts";
import { LocalError } from "./local-error.ts";
import { prepareNats } from "./nats-server.ts";
import { stopOrphans } from "./pid-file.ts";
import { listPorts, requireFreePorts, stackPorts } from "./ports.ts";
import { clearLeftover, preparePostgres } from "./postgres.ts";
import { writePrivateFile } from "./private-file.ts";
import { takeLock } from "./process-lock.ts";
import {
  repositoryServices,
  requireBuilt,
  type ServiceDefinition,
  serviceLaunch,
} from "./services.ts";
import type { LocalSettings } from "./settings.ts";
import type { RestartPolicy } from "./supervised-process.ts";
import { Supervisor } from "./supervisor.ts";

/** What a stack is made of. */
export interface StackOptions {
  readonly settings: LocalSettings;
  /** Its `LAPSE_*` variables go to every service. */
  readonly env: NodeJS.ProcessEnv;
  /** Tells the person at the terminal. */
  readonly report: (line: string) => void;
  readonly services?: readonly ServiceDefinition[];
  readonly policy?: RestartPolicy;
}

/** How to reach a running stack. */
export interface StackAccess {
  /** The gateway's REST URL; the console is at `/`. */
  readonly url: string;
  readonly adminToken: string;
  /** Where other services publish activity. */
  readonly natsUrl: string;
  /** `cli.json`, where the CLI finds both. */
  readonly cliFile: string;
}

/**
 * The embedded stack: PostgreSQL, nats-server, a folder as object store and the services, on 127.0.0.1.
 * Whatever of it is killed is started again until `stop`.
 */
export class LocalStack {
  readonly #options: StackOptions;
  readonly #stopping = new AbortController();
  #supervisor: Supervisor | undefined;
  #releaseLock: () => void = () => {};
  #started: Promise<StackAccess> | undefined;

  constructor(options: StackOptions) {
    this.#options = options;
  }

  /** The pid of each running process by name; the same as in `<dir>/pids.json`. */
  get pids(): Readonly<Record<string, number>> {
    return this.#supervisor?.pids ?? {};
  }

  /**
   * Starts everything; resolves once each service says that it is ready. Rejects with a `LocalError`
   * that says what to do, and then nothing is left running.
   */
  async start(): Promise<StackAccess> {
    this.#started ??= this.#start();
    try {
      return await this.#started;
    } catch (error) {
      await this.#stopEverything();
      throw error;
    }
  }

  /** Stops everything in the reverse order, also in the middle of a start; resolves when all of it is gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#supervisor?.stop();
    await this.#started?.catch(() => {});
    await this.#stopEverything();
  }

  /** Tells everything to end without waiting: politely, or at once by force. */
  signal(force: boolean): void {
    this.#stopping.abort();
    this.#supervisor?.signal(force);
    this.#releaseLock();
  }

  async #stopEverything(): Promise<void> {
    await this.#supervisor?.stop();
    this.#releaseLock();
  }

  async #start(): Promise<StackAccess> {
    const { settings, env, report, services = repositoryServices } = this.#options;
    givenSettings(env);
    requireBuilt(services);
    const { dir } = settings;
    await makeFolder(dir);
    await this.#takeFolder(dir);
    const ports = stackPorts(settings.portOffset);
    await requireFreePorts(listPorts(ports));

    const { policy } = this.#options;
    const supervisor = new Supervisor({ dir, report, ...(policy && { policy }) });
    this.#supervisor = supervisor;
    const databases = services.flatMap(({ database }) => database ?? []);
    const [databaseUrls, natsUrl] = await allOrFirstFault([
      this.#startPostgres(supervisor, ports.postgres, databases),
      this.#startNats(supervisor, ports.nats, ports.natsMonitoring),
    ]);

    const issuer = await openIssuer(dir);
    const objectsFolder = join(dir, "objects");
    await mkdir(objectsFolder, { recursive: true, mode: 0o700 });
    const shared = { ports, natsUrl, objectsFolder, ...issuer };
    const launches = await Promise.all(
      services.map((service) => this.#describe(service, shared, issuer, databaseUrls)),
    );
    this.#continue();
    await Promise.all(launches.map((launch) => supervisor.start(launch)));

    const url = `http://127.0.0.1:${ports.rest}`;
    const adminToken = await issuer.sign(adminIdentity);
    const cliFile = join(dir, "cli.json");
    const found = { url, token: adminToken, natsUrl, ...objectStore(env, objectsFolder) };
    await writePrivateFile(cliFile, `${JSON.stringify(found, undefined, 2)}\n`);
    return { url, adminToken, natsUrl, cliFile };
  }

  async #describe(
    service: ServiceDefinition,
    shared: SharedEnvironment,
    issuer: TokenIssuer,
    databaseUrls: Readonly<Record<string, string>>,
  ): Promise<Launch> {
    const { settings, env } = this.#options;
    const token = await issuer.sign(serviceIdentity(service.name));
    const tokenFile = await writeToken(settings.dir, service.name, token);
    const databaseUrl = service.database && databaseUrls[service.database];
    const own = { tokenFile, ...(databaseUrl && { databaseUrl }) };
    return serviceLaunch(service, {
      env: serviceEnvironment(service, shared, own, env),
      cwd: settings.dir,
      operationsPort: shared.ports.operations[service.name],
    });
  }

  // One stack per folder: two would take each other's processes for orphans.
  async #takeFolder(dir: string): Promise<void> {
    const lock = takeLock(join(dir, "stack.lock"));
    if (lock.kind === "held") {
      throw new LocalError(
        `A stack already runs from ${dir} (pid ${lock.holder.pid}). Stop that one, or start another ` +
          "with a LAPSE_LOCAL__DIR and a LAPSE_LOCAL__PORT_OFFSET of its own.",
      );
    }
    this.#releaseLock = lock.release;
    const orphans = await stopOrphans(join(dir, "pids.json"));
    if (orphans.length > 0) {
      this.#options.report(`stopped what the last stack left running: ${orphans.join(", ")}`);
    }
    await clearLeftover(join(dir, "postgres", "data"));
  }

  async #startPostgres(
    supervisor: Supervisor,
    port: number,
    databases: readonly string[],
  ): Promise<Readonly<Record<string, string>>> {
    const { dir } = this.#options.settings;
    const { launch, adminUrl } = await preparePostgres({ dir, port, durable: true });
    this.#continue();
    await supervisor.start(launch);
    return ensureDatabases(adminUrl, databases, dir);
  }

  async #startNats(supervisor: Supervisor, port: number, monitoringPort: number): Promise<string> {
    const { settings, report } = this.#options;
    const { launch, url } = await prepareNats({ dir: settings.dir, port, monitoringPort, report });
    this.#continue();
    await supervisor.start(launch);
    return url;
  }

  #continue(): void {
    if (this.#stopping.signal.aborted) throw new LocalError("Stopped before it was ready.");
  }
}

// Unlike Promise.all it leaves nothing under way behind a failure.
async function allOrFirstFault<A, B>(tasks: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}

// What the CLI has to know where it reads table files itself; an S3 store it finds by its own means.
function objectStore(env: NodeJS.ProcessEnv, folder: string): object {
  const given = givenSettings(env);
  if ((given.LAPSE_OBJECT_STORE__KIND ?? "file") !== "file") return {};
  return { objectStore: { kind: "file", path: given.LAPSE_OBJECT_STORE__PATH ?? folder } };
}

// Where root runs the stack, PostgreSQL is another user who must get to its data: others may pass
// through, not look. What is inside is closed by itself.
async function makeFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new LocalError(
      `The data folder ${dir} cannot be used (${(error as Error).message}). If somebody else made it, ` +
        "remove it or have it given to you, or choose another with LAPSE_LOCAL__DIR.",
    );
  }
  if (process.getuid?.() === 0) await chmod(dir, (await stat(dir)).mode | 0o011);
}

async function writeToken(dir: string, name: string, token: string): Promise<string> {
  const folder = join(dir, "tokens");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.jwt`);
  await writePrivateFile(path, token);
  return path;
}
