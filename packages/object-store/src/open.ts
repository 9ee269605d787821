import { ObjectStoreError, quoted } from "./errors.ts";
import { openFileStore } from "./file/open-file-store.ts";
import type { ObjectStore } from "./object-store.ts";

/** Which store to open. `path`: an absolute directory, created when missing. */
export type ObjectStoreSettings =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "s3" };

/**
 * Opens the store that the settings name and proves that it can be written to.
 *
 * @throws ObjectStoreError `invalid` for a kind or path that cannot be used, `unavailable` where
 *   the store cannot be reached or written to.
 */
export async function openObjectStore(settings: ObjectStoreSettings): Promise<ObjectStore> {
  if (settings.kind === "file") return openFileStore(settings.path);
  throw new ObjectStoreError(
    "invalid",
    `Object store kind ${quoted(String(settings.kind))} is not available; use "file".`,
  );
}
