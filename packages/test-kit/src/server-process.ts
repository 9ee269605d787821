import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Launch, type ProcessReference, referTo, until } from "@lapse/local";
import { runDirectory } from "./run-directory.ts";

const readyWithinMs = 30_000;

/**
 * Starts a server that outlives this worker until the run's guard ends it; resolves when it is ready.
 * Its log is `logs/<launch.name>.log` in the run's folder.
 */
export async function startServerProcess(launch: Launch): Promise<ProcessReference> {
  await launch.beforeStart?.();
  const folder = runDirectory();
  await mkdir(join(folder, "logs"), { recursive: true });
  await mkdir(join(folder, "pids"), { recursive: true });
  const log = join(folder, "logs", `${launch.name}.log`);
  const output = openSync(log, "a");
  const child = spawn(launch.command, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    detached: true,
    stdio: ["ignore", output, output],
    ...(launch.user && { uid: launch.user.uid, gid: launch.user.gid }),
  });
  closeSync(output);
  let ended: string | undefined;
  child.once("error", (error) => {
    ended = error.message;
  });
  child.once("exit", (code, signal) => {
    ended = `it ended with ${signal ?? `exit code ${code}`}`;
  });
  const process = child.pid === undefined ? undefined : referTo(child.pid);
  if (process !== undefined) writeFileSync(pidFile(process), process.identity);
  const outcome = await until(
    async () => ended ?? ((await launch.isReady()) ? "ready" : undefined),
    { timeoutMs: readyWithinMs, everyMs: 10 },
  );
  child.unref();
  if (outcome === "ready" && process !== undefined) return process;
  throw new Error(
    `${launch.name} did not start: ${outcome ?? "it is not ready in time"}\n${await tail(log)}`,
  );
}

/** Forgets a process that has been stopped, so that the guard need not look for it. */
export async function forgetServerProcess(process: ProcessReference): Promise<void> {
  await rm(pidFile(process), { force: true });
}

function pidFile(process: ProcessReference): string {
  return join(runDirectory(), "pids", String(process.pid));
}

async function tail(path: string): Promise<string> {
  return (await readFile(path, "utf8")).split("\n").slice(-15).join("\n");
}
