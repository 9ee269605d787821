import { createWriteStream, openSync, renameSync, statSync, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";

/** Size at which a log is set aside as `<name>.1`, which replaces the one before. Bytes. */
const defaultLimit = 64 * 1024 * 1024;

/** A log on disk, appended to across runs, that never takes more than twice its limit. */
export class LogFile {
  readonly #path: string;
  readonly #limit: number;
  #stream: WriteStream;
  #size: number;

  constructor(path: string, limit = defaultLimit) {
    this.#path = path;
    this.#limit = limit;
    this.#stream = open(path);
    this.#size = statSync(path).size;
  }

  writeLine(line: string): void {
    this.#size += Buffer.byteLength(line) + 1;
    if (this.#size > this.#limit) this.#setAside(Buffer.byteLength(line) + 1);
    this.#stream.write(`${line}\n`);
  }

  /** Resolves once all that was written is in the file. */
  async close(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream);
  }

  #setAside(size: number): void {
    this.#stream.end();
    renameSync(this.#path, `${this.#path}.1`);
    this.#stream = open(this.#path);
    this.#size = size;
  }
}

function open(path: string): WriteStream {
  return createWriteStream(path, { fd: openSync(path, "a", 0o600) });
}
