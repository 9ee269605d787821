import { types } from "node:util";
import { ObjectStoreError } from "../errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is larger than the file system allows",
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
  EMFILE: "the process has too many files open",
  ENFILE: "the system has too many files open",
  EIO: "the disk reports an input/output error",
};

/** The system's code of a failed file operation (`ENOENT`); null for any other error. */
function codeOf(error: unknown): string | null {
  if (!types.isNativeError(error) || !("syscall" in error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Whether a file operation failed for one of these reasons. */
export function failedWith(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(codeOf(error) ?? "");
}

/**
 * What a store reports for a failed file operation: `invalid` for a path beyond the file system's
 * limit, `unavailable` for every other; an error that is no file operation's is left as it is.
 *
 * @param doing What was tried, to follow "Cannot": `put "k" into bucket "b"`.
 */
export function fileFailure(error: unknown, doing: string): unknown {
  const code = codeOf(error);
  if (code === null || !types.isNativeError(error)) return error;
  if (code === "ENAMETOOLONG") {
    return new ObjectStoreError(
      "invalid",
      `Cannot ${doing}: the path is longer than the file system allows.`,
      { cause: error },
    );
  }
  const reason = REASONS[code] ?? error.message;
  return new ObjectStoreError("unavailable", `Cannot ${doing}: ${reason}.`, { cause: error });
}

/** Runs `work` and reports its failure as {@link fileFailure} does. */
export async function attempt<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileFailure(error, doing);
  }
}
