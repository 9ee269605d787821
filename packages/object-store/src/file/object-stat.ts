import type { BigIntStats } from "node:fs";
import type { ObjectStat } from "../object-store.ts";

/**
 * Describes the regular file of an object.
 *
 * The etag is inode, size and modification time in nanoseconds: no byte is read for it, every put
 * makes a new inode, and a file rewritten in place by another program gets a new time. It survives
 * renames and links, but not a copy to another disk: a restored object counts as overwritten, so a
 * conditional delete keeps it. Where the file system's clock ticks in milliseconds, the last of three
 * puts of the same size within one tick could get the inode, and so the etag, of the first.
 */
export function objectStat(key: string, stats: BigIntStats): ObjectStat {
  return {
    key,
    size: Number(stats.size),
    etag: [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(16)).join("-"),
    lastModified: new Date(Number(stats.mtimeNs / 1_000_000n)),
  };
}
