import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { until } from "./until.ts";

/**
 * Names one process for good: a pid alone may belong to somebody else by the time it is used.
 * `identity` is its start time, together with the machine's boot.
 */
export interface ProcessReference {
  readonly pid: number;
  readonly identity: string;
}

/** One step of stopping a process: the signal, and how long to wait for the end before the next. */
export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

/** The identity of a living process; `undefined` when there is none or it is a zombie. */
export function processIdentity(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the command in brackets and may hold spaces and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const startTicks = fields[19];
  if (state === "Z" || state === "X" || startTicks === undefined) return undefined;
  const boot = readIfThere("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return `${boot}:${startTicks}`;
}

function fromPs(pid: number): string | undefined {
  const answer = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" });
  const [state, ...start] = answer.stdout.trim().split(/\s+/);
  if (answer.status !== 0 || state === undefined || state.startsWith("Z")) return undefined;
  return start.join(" ");
}

/** The command line of a process, arguments separated by spaces; empty when it cannot be read. */
export function processCommand(pid: number): string {
  if (process.platform === "linux") {
    return (readIfThere(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trim();
  }
  return spawnSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], {
    encoding: "utf8",
  }).stdout.trim();
}

/** A reference to a process that runs now. */
export function referTo(pid: number): ProcessReference | undefined {
  const identity = processIdentity(pid);
  return identity === undefined ? undefined : { pid, identity };
}

/** Whether that very process still runs. */
export function isAlive(process: ProcessReference): boolean {
  return processIdentity(process.pid) === process.identity;
}

/**
 * Stops that very process, and never another that got its pid: the steps in order, then SIGKILL.
 * Returns once it is gone.
 */
export async function stopProcess(
  target: ProcessReference,
  steps: readonly StopStep[],
): Promise<void> {
  for (const step of [...steps, { signal: "SIGKILL", waitMs: 10_000 } as const]) {
    if (!isAlive(target)) return;
    sendSignal(target.pid, step.signal);
    await until(() => !isAlive(target), { timeoutMs: step.waitMs });
  }
}

/** Sends a signal; a process (or, negative, a process group) that is gone is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
