import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Launch } from "./launch.ts";
import { lineSplitter } from "./line-splitter.ts";
import { LocalError } from "./local-error.ts";
import type { LogFile } from "./log-file.ts";
import { type ProcessReference, referTo, sendSignal, stopProcess } from "./process-identity.ts";
import { quietRepeats } from "./quiet-repeats.ts";

/** When a process that ended by itself is started again, and how patient its first start is. */
export interface RestartPolicy {
  /** The delay doubles from here with each end in a row. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A run at least this long starts the delays over. */
  readonly settledAfterMs: number;
  readonly readyWithinMs: number;
  /** So many ends before it was ever ready, and it is given up. */
  readonly triesToFirstReady: number;
}

/** What a supervised process needs of its surroundings. */
export interface SupervisedProcessDeps {
  readonly log: LogFile;
  readonly policy: RestartPolicy;
  /** Tells the person at the terminal. */
  readonly report: (line: string) => void;
  /** Called whenever `current` has changed. */
  readonly onChange: () => void;
}

interface FirstStart {
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

const pollMs = 50;
const lastLinesKept = 15;
const repeatsQuietMs = 30_000;

/** One process that is kept running until it is told to stop. */
export class SupervisedProcess {
  readonly #launch: Launch;
  readonly #deps: SupervisedProcessDeps;
  readonly #stopping = new AbortController();
  readonly #lastLines: string[] = [];
  readonly #showOnce: (line: string) => void;
  #current: ProcessReference | undefined;
  #life: Promise<void> = Promise.resolve();
  #wasReady = false;

  constructor(launch: Launch, deps: SupervisedProcessDeps) {
    this.#launch = launch;
    this.#deps = deps;
    this.#showOnce = quietRepeats(deps.report, repeatsQuietMs);
  }

  get name(): string {
    return this.#launch.name;
  }

  /** The process that runs now, if one does. */
  get current(): ProcessReference | undefined {
    return this.#current;
  }

  /** Starts it and keeps it running. Resolves when it is ready for the first time; rejects when it does not get there. */
  start(): Promise<void> {
    return new Promise((succeed, fail) => {
      this.#life = this.#live({ succeed, fail });
    });
  }

  /** Stops it for good, step by step, SIGKILL at last. Resolves when it is gone and its log is written. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#current !== undefined) await stopProcess(this.#current, this.#launch.stop);
    await this.#life;
    await this.#deps.log.close();
  }

  /** Asks it to stop and does not wait; `force` ends it, and what it started, at once. */
  signal(force: boolean): void {
    this.#stopping.abort();
    const pid = this.#current?.pid;
    if (pid === undefined) return;
    const polite = this.#launch.stop[0]?.signal ?? "SIGTERM";
    if (force) sendSignal(-pid, "SIGKILL");
    else sendSignal(pid, polite);
  }

  async #live(first: FirstStart): Promise<void> {
    const { policy, report } = this.#deps;
    let delayMs = policy.firstDelayMs;
    for (let ends = 1; !this.#stopping.signal.aborted; ends += 1) {
      const startedAt = performance.now();
      const how = await this.#runOnce(first);
      if (this.#stopping.signal.aborted) break;
      if (!this.#wasReady && ends >= policy.triesToFirstReady) {
        return first.fail(this.#failure(`ended ${ends} times before it was ready (${how})`));
      }
      if (performance.now() - startedAt >= policy.settledAfterMs) delayMs = policy.firstDelayMs;
      report(`${this.name} ended (${how}); it is started again in ${delayMs / 1000} s`);
      await this.#pause(delayMs);
      delayMs = Math.min(delayMs * 2, policy.maxDelayMs);
    }
    first.fail(new LocalError(`${this.name} was stopped before it was ready.`));
  }

  /** One run from start to end; says how it ended. */
  async #runOnce(first: FirstStart): Promise<string> {
    try {
      await this.#launch.beforeStart?.();
    } catch (error) {
      return (error as Error).message;
    }
    if (this.#stopping.signal.aborted) return "stopped";
    const child = this.#spawn();
    let running = true;
    const ended = endOf(child).finally(() => {
      running = false;
    });
    this.#setCurrent(child.pid === undefined ? undefined : referTo(child.pid));
    await this.#awaitReady(first, () => running);
    const how = await ended;
    this.#setCurrent(undefined);
    return how;
  }

  #spawn(): ChildProcess {
    const { command, args, env, cwd, user } = this.#launch;
    const child = spawn(command, args, {
      cwd,
      env,
      // A group of its own: Ctrl-C on the terminal reaches us alone, and we stop things in order.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      ...(user && { uid: user.uid, gid: user.gid }),
    });
    for (const stream of [child.stdout, child.stderr]) {
      const split = lineSplitter((line) => this.#onLine(line));
      stream?.setEncoding("utf8").on("data", split);
      stream?.once("close", () => split(undefined));
    }
    return child;
  }

  async #awaitReady(first: FirstStart, isRunning: () => boolean): Promise<void> {
    const { policy, report } = this.#deps;
    const startedAt = performance.now();
    while (isRunning() && !this.#stopping.signal.aborted) {
      try {
        if (await this.#launch.isReady()) {
          if (this.#wasReady) report(`${this.name} is back (pid ${this.#current?.pid})`);
          this.#wasReady = true;
          return first.succeed();
        }
      } catch (error) {
        return first.fail(error as Error);
      }
      if (!this.#wasReady && performance.now() - startedAt > policy.readyWithinMs) {
        return first.fail(this.#failure(`is not ready after ${policy.readyWithinMs / 1000} s`));
      }
      await this.#pause(pollMs);
    }
  }

  #onLine(line: string): void {
    this.#deps.log.writeLine(line);
    this.#lastLines.push(line);
    if (this.#lastLines.length > lastLinesKept) this.#lastLines.shift();
    const notable = this.#launch.notable(line);
    if (notable !== undefined) this.#showOnce(`${this.name}: ${notable}`);
  }

  #setCurrent(current: ProcessReference | undefined): void {
    this.#current = current;
    this.#deps.onChange();
  }

  #failure(what: string): LocalError {
    const said =
      this.#lastLines.length > 0 ? ` Its last lines:\n${this.#lastLines.join("\n")}` : "";
    return new LocalError(`${this.name} ${what}.${said}`);
  }

  /** Waits, but not once it is to stop. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    await delay(ms, undefined, { signal }).catch(() => {});
  }
}

// A grandchild may keep the pipes open after the child's end; what it still says is not waited for.
async function endOf(child: ChildProcess): Promise<string> {
  const closed = once(child, "close").catch(() => {});
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    await Promise.race([closed, delay(500, undefined, { ref: false })]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    return signal ?? `exit code ${code}`;
  } catch (error) {
    return (error as Error).message;
  }
}
