import type { Dir } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { compareKeys } from "../object-key.ts";
import { takeOverClaim } from "./claim.ts";
import { failedWith } from "./file-failure.ts";
import { type FileRoot, requireStore } from "./file-root.ts";
import { continuesSegment, isClaim } from "./segment-names.ts";
import { smallest } from "./smallest.ts";

const READ_AHEAD = 1024;

/** Which entries of a directory are wanted; texts are relative to it. */
export interface EntryFilter {
  readonly prefix: string;
  /** Only what is, or may hold, a key after this one; null for every key. */
  readonly keysAfter: string | null;
  /** Only entries after this one; null from the first. */
  readonly entriesAfter: string | null;
}

export interface EntryWindow {
  /** In key order: `segment` for a file, `segment/` for a directory. */
  readonly entries: readonly string[];
  readonly more: boolean;
}

/**
 * Reads the first entries of a directory that the filter takes. A file `a`, with the key `a`, and a
 * directory `b`, with keys that start `b/`, are in key order when sorted as `a` and `b/`.
 *
 * A directory that is gone has no entries. Claims that are met are settled.
 *
 * @throws ObjectStoreError `unavailable` when it is the whole store that is gone
 */
export async function readWindow(
  root: FileRoot,
  path: string,
  filter: EntryFilter,
): Promise<EntryWindow> {
  for (;;) {
    const window = smallest(root.windowEntries);
    const claims: string[] = [];
    await scan(root, path, [], {
      claim: (claim) => claims.push(claim),
      entry: (entry) => takes(filter, entry) && window.add(entry),
    });
    const outcomes = await Promise.all(claims.map(takeOverClaim));
    if (outcomes.includes("put back")) continue;
    const { texts, more } = window.take();
    return { entries: texts, more };
  }
}

function takes({ prefix, keysAfter, entriesAfter }: EntryFilter, entry: string): boolean {
  if (!entry.startsWith(prefix)) return false;
  if (entriesAfter !== null && compareKeys(entry, entriesAfter) <= 0) return false;
  if (keysAfter === null || compareKeys(entry, keysAfter) > 0) return true;
  return entry.endsWith("/") && keysAfter.startsWith(entry);
}

interface Visitor {
  readonly claim: (path: string) => unknown;
  readonly entry: (entry: string) => unknown;
}

/** @param outer The names so far of a segment that is spread over nested directories. */
async function scan(
  root: FileRoot,
  path: string,
  outer: readonly string[],
  visit: Visitor,
): Promise<void> {
  const directory = await openDirectory(root, path);
  if (directory === null) return;
  for await (const entry of directory) {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    // Links and special files are never objects.
    if (!isDirectory && !entry.isFile()) continue;
    if (isDirectory && isClaim(name)) {
      visit.claim(join(path, name));
    } else if (isDirectory && continuesSegment(name)) {
      await scan(root, join(path, name), [...outer, name], visit);
    } else {
      const segment = root.names.decode([...outer, name]);
      if (segment !== null) visit.entry(isDirectory ? `${segment}/` : segment);
    }
  }
}

async function openDirectory(root: FileRoot, path: string): Promise<Dir | null> {
  try {
    return await opendir(path, { bufferSize: READ_AHEAD });
  } catch (error) {
    if (!failedWith(error, "ENOENT", "ENOTDIR")) throw error;
    await requireStore(root);
    return null;
  }
}
