import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Launch } from "./launch.ts";
import { LogFile } from "./log-file.ts";
import { writePids } from "./pid-file.ts";
import { referTo } from "./process-identity.ts";
import { type RestartPolicy, SupervisedProcess } from "./supervised-process.ts";

/** Where a supervisor writes, whom it tells, and how it restarts. */
export interface SupervisorOptions {
  /** Gets `logs/<name>.log` and `pids.json`. */
  readonly dir: string;
  readonly report: (line: string) => void;
  readonly policy?: RestartPolicy;
}

/** What `make up` uses: half a second to ten seconds between restarts, a minute to be ready. */
const defaultPolicy: RestartPolicy = {
  firstDelayMs: 500,
  maxDelayMs: 10_000,
  settledAfterMs: 30_000,
  readyWithinMs: 60_000,
  triesToFirstReady: 3,
};

/** Keeps the processes of a stack running, and stops them in the reverse of the order they were started in. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #report: (line: string) => void;
  readonly #members: SupervisedProcess[] = [];
  readonly #pidFile: string;
  #stopped: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#report = (line) => {
      // While all of it goes down, that one misses the other is no news.
      if (this.#stopped === undefined) options.report(line);
    };
    this.#pidFile = join(options.dir, "pids.json");
    mkdirSync(join(options.dir, "logs"), { recursive: true, mode: 0o700 });
  }

  /** The pid of each process that runs now, by name. */
  get pids(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.#members.flatMap(({ name, current }) => (current ? [[name, current.pid]] : [])),
    );
  }

  /** Starts a process and keeps it running. Resolves when it is ready; rejects when it does not get there. */
  async start(launch: Launch): Promise<void> {
    if (this.#stopped !== undefined) throw new Error(`${launch.name} is started after the stop`);
    const member = new SupervisedProcess(launch, {
      log: new LogFile(join(this.#options.dir, "logs", `${launch.name}.log`)),
      policy: this.#options.policy ?? defaultPolicy,
      report: this.#report,
      onChange: () => this.#writePids(),
    });
    this.#members.push(member);
    await member.start();
  }

  /** Stops everything, last started first; resolves when all of it is gone. May be called again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  /** Tells everything to end and does not wait: politely, or at once by force. */
  signal(force: boolean): void {
    this.#stopped ??= Promise.resolve();
    for (const member of this.#members.toReversed()) member.signal(force);
  }

  async #stopAll(): Promise<void> {
    for (const member of this.#members.toReversed()) await member.stop();
    rmSync(this.#pidFile, { force: true });
  }

  #writePids(): void {
    const running = this.#members.flatMap(({ name, current }) =>
      current ? [[name, current]] : [],
    );
    const supervisor = referTo(process.pid);
    writePids(this.#pidFile, { ...(supervisor && { supervisor }), ...Object.fromEntries(running) });
  }
}
