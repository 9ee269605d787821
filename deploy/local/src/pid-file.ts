import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isAlive, type ProcessReference, type StopStep, stopProcess } from "./process-identity.ts";

/** The processes of a stack by name. */
export type Pids = Readonly<Record<string, ProcessReference>>;

/** Replaces the file. Synchronous: no process may run unrecorded, however suddenly we end. */
export function writePids(path: string, pids: Pids): void {
  const fresh = `${path}.new`;
  writeFileSync(fresh, `${JSON.stringify(pids, undefined, 2)}\n`);
  renameSync(fresh, path);
}

/** The recorded processes that still run: the same process, not another that got its pid. */
export function readLivingPids(path: string): Pids {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  const recorded = Object.entries(JSON.parse(text) as Pids);
  return Object.fromEntries(recorded.filter(([, reference]) => isAlive(reference)));
}

const steps: readonly StopStep[] = [{ signal: "SIGTERM", waitMs: 5_000 }];

/**
 * Stops what a supervisor that was killed left running, as far as it is in `pids.json`. PostgreSQL is
 * left to `clearLeftover`, which stops it its own way. Returns the names.
 */
export async function stopOrphans(path: string): Promise<readonly string[]> {
  const others = ["supervisor", "postgres"];
  const orphans = Object.entries(readLivingPids(path)).filter(([name]) => !others.includes(name));
  await Promise.all(orphans.map(([, reference]) => stopProcess(reference, steps)));
  return orphans.map(([name]) => name);
}
