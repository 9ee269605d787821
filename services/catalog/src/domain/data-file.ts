import type { FieldFault } from "./columns.ts";

/** A file of a table. */
export interface DataFile {
  /** Below the table's key prefix, e.g. `data/01890b….parquet`. */
  readonly path: string;
  readonly byteSize: bigint;
  readonly rowCount: bigint;
}

/** Files in one commit at most: what one request and one transaction hold without strain. */
export const MAX_FILES_PER_COMMIT = 10_000;
/** The whole key, prefix included, has at most 1024 bytes in S3; the prefix takes at most 101. */
const MAX_PATH_BYTES = 900;
const MAX_COUNT = 2n ** 53n - 1n;
// A separator on some systems; what a terminal or a log would interpret; what DuckDB reads as a pattern.
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Surrogate}\\*?[]/u;

/** Everything wrong with the files of a commit, as far as they alone tell. */
export function dataFileFaults(files: readonly DataFile[]): FieldFault[] {
  if (files.length > MAX_FILES_PER_COMMIT) {
    const description = `a commit has at most ${MAX_FILES_PER_COMMIT} files; write fewer, larger ones or commit in parts`;
    return [{ field: "/files", description }];
  }
  const seen = new Set<string>();
  return files.flatMap((file, index) => {
    const faults: FieldFault[] = [];
    const at = `/files/${index}`;
    const path = pathFault(file.path);
    if (path) faults.push({ field: `${at}/path`, description: path });
    if (seen.has(file.path)) {
      faults.push({ field: `${at}/path`, description: "the same path is given twice" });
    }
    seen.add(file.path);
    if (file.byteSize > MAX_COUNT) {
      faults.push({ field: `${at}/byte_size`, description: "at most 2^53 - 1 bytes" });
    }
    if (file.rowCount > MAX_COUNT) {
      faults.push({ field: `${at}/row_count`, description: "at most 2^53 - 1 rows" });
    }
    return faults;
  });
}

/** What is wrong with a path below a table's key prefix, or undefined. It can never lead out of that prefix. */
export function pathFault(path: string): string | undefined {
  if (path === "") return "a path is required";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return `a path has at most ${MAX_PATH_BYTES} bytes in UTF-8`;
  }
  if (FORBIDDEN.test(path)) {
    return "a path has no backslash, *, ? or [, and no control or formatting characters";
  }
  const segments = path.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return "a path lies below the table's key prefix: no leading slash, no empty, . or .. segment";
  }
  return undefined;
}
