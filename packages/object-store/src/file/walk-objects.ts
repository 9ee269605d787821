import { type BigIntStats, lstat } from "node:fs";
import { join } from "node:path";
import { compareKeys, exceedsKeyLimit } from "../object-key.ts";
import type { ObjectStat } from "../object-store.ts";
import { failedWith } from "./file-failure.ts";
import { directoryPath, type FileRoot, isRealDirectory } from "./file-root.ts";
import { objectStat } from "./object-stat.ts";
import { readWindow } from "./read-window.ts";

const STATS_AT_ONCE = 64;

export interface WalkRange {
  readonly prefix: string;
  /** Null from the first key. */
  readonly startAfter: string | null;
}

/**
 * Yields the objects of a bucket in key order, in batches. Memory: one window of names for each
 * level of directories, whatever the number of objects.
 */
export async function* walkObjects(
  root: FileRoot,
  bucket: string,
  range: WalkRange,
): AsyncGenerator<readonly ObjectStat[]> {
  const base = range.prefix.slice(0, range.prefix.lastIndexOf("/") + 1);
  const path = directoryPath(root, bucket, base);
  if (await isRealDirectory(path)) yield* walkDirectory(root, path, base, range);
}

/** @param base What the keys in this directory start with: empty, or ending in a slash. */
async function* walkDirectory(
  root: FileRoot,
  path: string,
  base: string,
  range: WalkRange,
): AsyncGenerator<readonly ObjectStat[]> {
  const keysAfter = relativeStart(base, range.startAfter);
  if (keysAfter === "none" || exceedsKeyLimit(base)) return;
  const prefix = range.prefix.slice(base.length);
  let entriesAfter: string | null = null;
  for (;;) {
    const window = await readWindow(root, path, { prefix, entriesAfter, ...keysAfter });
    for (const run of runsOf(window.entries)) {
      if (run.kind === "files") {
        yield await statFiles(root, path, base, run.segments);
      } else {
        const names = root.names.encode(run.segment);
        yield* walkDirectory(root, join(path, ...names), `${base}${run.segment}/`, range);
      }
    }
    if (!window.more) return;
    entriesAfter = window.entries.at(-1) ?? null;
  }
}

/** What `startAfter` means to a directory: nothing, everything is before it, or a text within. */
function relativeStart(
  base: string,
  startAfter: string | null,
): { readonly keysAfter: string | null } | "none" {
  if (startAfter === null) return { keysAfter: null };
  if (startAfter.startsWith(base)) return { keysAfter: startAfter.slice(base.length) };
  return compareKeys(base, startAfter) > 0 ? { keysAfter: null } : "none";
}

type Run =
  | { readonly kind: "files"; readonly segments: readonly string[] }
  | { readonly kind: "directory"; readonly segment: string };

function* runsOf(entries: readonly string[]): Generator<Run> {
  let segments: string[] = [];
  for (const entry of entries) {
    const isDirectory = entry.endsWith("/");
    if (!isDirectory) segments.push(entry);
    if (segments.length > 0 && (isDirectory || segments.length === STATS_AT_ONCE)) {
      yield { kind: "files", segments };
      segments = [];
    }
    if (isDirectory) yield { kind: "directory", segment: entry.slice(0, -1) };
  }
  if (segments.length > 0) yield { kind: "files", segments };
}

/** By callbacks, as a promise for each file costs three times as much; what is gone is left out. */
function statFiles(
  root: FileRoot,
  path: string,
  base: string,
  segments: readonly string[],
): Promise<readonly ObjectStat[]> {
  return new Promise((resolve, reject) => {
    const found: (BigIntStats | null)[] = new Array(segments.length).fill(null);
    let waiting = segments.length;
    for (const [index, segment] of segments.entries()) {
      lstat(join(path, ...root.names.encode(segment)), { bigint: true }, (error, stats) => {
        if (error === null) found[index] = stats.isFile() ? stats : null;
        else if (!failedWith(error, "ENOENT", "ENOTDIR")) reject(error);
        waiting -= 1;
        if (waiting === 0) resolve(toObjects(base, segments, found));
      });
    }
  });
}

function toObjects(
  base: string,
  segments: readonly string[],
  found: readonly (BigIntStats | null)[],
): readonly ObjectStat[] {
  const objects: ObjectStat[] = [];
  for (const [index, segment] of segments.entries()) {
    const stats = found[index];
    const key = base + segment;
    if (stats && !exceedsKeyLimit(key)) objects.push(objectStat(key, stats));
  }
  return objects;
}
