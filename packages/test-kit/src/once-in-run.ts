import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { takeLock, until } from "@lapse/local";
import { runDirectory } from "./run-directory.ts";

const patienceMs = 180_000;

/**
 * What `make` returns (JSON), made by one process of the test run and shared by all: the others wait.
 * After a failure, or when the maker is killed, the next one tries again.
 */
export async function onceInRun<T>(name: string, make: () => Promise<T>): Promise<T> {
  const path = join(runDirectory(), `${name}.json`);
  const made = await until(async () => (await readMade<T>(path)) ?? (await tryToMake(path, make)), {
    timeoutMs: patienceMs,
  });
  if (made === undefined) throw new Error(`${name} was not there after ${patienceMs / 1000} s`);
  return made.value;
}

interface Made<T> {
  readonly value: T;
}

async function tryToMake<T>(path: string, make: () => Promise<T>): Promise<Made<T> | undefined> {
  const lock = takeLock(`${path}.lock`);
  if (lock.kind === "held") return undefined;
  try {
    const already = await readMade<T>(path);
    if (already !== undefined) return already;
    const made: Made<T> = { value: await make() };
    await writeFile(`${path}.new`, JSON.stringify(made));
    await rename(`${path}.new`, path);
    return made;
  } finally {
    lock.release();
  }
}

async function readMade<T>(path: string): Promise<Made<T> | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Made<T>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
