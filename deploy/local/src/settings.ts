import { resolve } from "node:path";
import { LocalError } from "./local-error.ts";

/** Where the embedded stack keeps its data, and what is added to each of its ports. */
export interface LocalSettings {
  /** Absolute path. */
  readonly dir: string;
  readonly portOffset: number;
}

const known = ["LAPSE_LOCAL__DIR", "LAPSE_LOCAL__PORT_OFFSET"];
const maxOffset = 50_000;

/**
 * Reads `LAPSE_LOCAL__DIR` (default `.lapse` below `cwd`) and `LAPSE_LOCAL__PORT_OFFSET` (default 0).
 * Throws a `LocalError` that names every fault at once.
 */
export function readSettings(env: NodeJS.ProcessEnv, cwd: string): LocalSettings {
  const unknown = Object.keys(env).filter(
    (key) => key.startsWith("LAPSE_LOCAL__") && !known.includes(key),
  );
  const faults = unknown.map((key) => `${key} is not a setting (there are ${known.join(" and ")})`);
  const offset = env.LAPSE_LOCAL__PORT_OFFSET?.trim() || "0";
  const portOffset = Number(offset);
  if (!/^\d+$/.test(offset) || portOffset > maxOffset) {
    faults.push(
      `LAPSE_LOCAL__PORT_OFFSET must be a whole number from 0 to ${maxOffset}, not "${offset}"`,
    );
  }
  if (faults.length > 0) throw new LocalError(`${faults.join("; ")}.`);
  return { dir: resolve(cwd, env.LAPSE_LOCAL__DIR?.trim() || ".lapse"), portOffset };
}
