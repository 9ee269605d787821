import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { types } from "node:util";
import { ObjectStoreError } from "../errors.ts";
import { fileFailure } from "./file-failure.ts";

const READ_BYTES = 256 * 1024;

interface Extent {
  /** First byte. */
  readonly start: number;
  /** Byte after the last. */
  readonly end: number;
  /** For the sentence of a failure. */
  readonly doing: string;
}

/**
 * Streams a part of an open file and closes it at the end, or when the stream is destroyed, also
 * unread. A file that another program cut short meanwhile fails the stream instead of ending it.
 */
export function readContents(handle: FileHandle, { start, end, doing }: Extent): Readable {
  let position = start;
  const next = async (atMost: number): Promise<Uint8Array | null> => {
    if (position >= end) return null;
    const wanted = Math.min(atMost, end - position);
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(wanted),
      0,
      wanted,
      position,
    );
    if (bytesRead === 0) {
      throw new ObjectStoreError("unavailable", `Cannot ${doing}: it was cut short meanwhile.`);
    }
    position += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  return new Readable({
    highWaterMark: READ_BYTES,
    read(size) {
      next(size).then(
        (chunk) => this.push(chunk),
        (error: unknown) => this.destroy(asError(fileFailure(error, doing))),
      );
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (closing: unknown) => done(error ?? asError(fileFailure(closing, doing))),
      );
    },
  });
}

function asError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error(String(error));
}
