import { ObjectStoreError, quoted } from "../errors.ts";
import { makeClaim, settleClaim } from "./claim.ts";
import { statObject } from "./file-root.ts";

/**
 * Deletes the object at `path` only if it still is the version `etag`.
 *
 * No file system deletes a file on a condition, and between a look and an unlink a put may slip in.
 * So the file is first moved, in one step, into a directory of its own beside it (a claim, which
 * bears the etag in its name), looked at there, where no put reaches it, and then deleted or put
 * back. A claim that a killed process left is settled the same way by the next listing.
 *
 * A newer version that was moved by mistake is missing for the moment until it is put back.
 *
 * @throws ObjectStoreError `precondition` where it is another version, which is kept
 */
export async function deleteVersion(path: string, key: string, etag: string): Promise<void> {
  for (;;) {
    const found = await statObject(path, key);
    if (found === null) return;
    if (found.etag !== etag) throw overwritten(key);
    const outcome = await settleClaim(await makeClaim(path, etag));
    if (outcome === "put back") throw overwritten(key);
    if (outcome === "deleted") return;
  }
}

function overwritten(key: string): ObjectStoreError {
  return new ObjectStoreError(
    "precondition",
    `Key ${quoted(key)} was overwritten since it was looked at; it is kept.`,
  );
}
