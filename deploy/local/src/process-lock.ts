import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isAlive, type ProcessReference, referTo } from "./process-identity.ts";

/** The outcome of asking for a lock: ours until `release`, or somebody else's. */
export type LockAttempt =
  | { readonly kind: "taken"; readonly release: () => void }
  | { readonly kind: "held"; readonly holder: ProcessReference };

/**
 * Takes the lock file `path` for this process. A lock whose holder no longer lives is taken over, so
 * a SIGKILL leaves nothing to clean up by hand. Not re-entrant: this process counts as a holder too.
 */
export function takeLock(path: string): LockAttempt {
  const self = referTo(process.pid);
  if (self === undefined) throw new Error(`cannot tell the start time of process ${process.pid}`);
  const own = `${path}.${process.pid}.${randomUUID()}`;
  writeFileSync(own, JSON.stringify(self));
  try {
    for (;;) {
      if (tryLink(own, path)) return { kind: "taken", release: releaseOnce(path) };
      const found = readText(path);
      if (found === undefined) continue;
      const holder = parseHolder(found);
      if (holder !== undefined && isAlive(holder)) return { kind: "held", holder };
      removeStale(path, found);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

// Once only: by a second call the lock may be somebody else's.
function releaseOnce(path: string): () => void {
  let held = true;
  return () => {
    if (held) rmSync(path, { force: true });
    held = false;
  };
}

// Between reading a stale lock and removing it another process may have taken it over: what was
// moved away is looked at again, and put back if it is not what was read.
function removeStale(path: string, stale: string): void {
  const aside = `${path}.${process.pid}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  if (readText(aside) !== stale) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function parseHolder(text: string): ProcessReference | undefined {
  try {
    return JSON.parse(text) as ProcessReference;
  } catch {
    // Only a crash of the machine in the middle of writing leaves such a file; nobody holds it.
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
