import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { objectStoreContract } from "../contract.ts";
import { openObjectStore } from "../open.ts";
import { fileObjectStore } from "./file-object-store.ts";
import { segmentNames } from "./segment-names.ts";

objectStoreContract("file", async () => {
  const path = await mkdtemp(join(tmpdir(), "lapse-store-"));
  return {
    store: await openObjectStore({ kind: "file", path }),
    keyUnderKey: false,
    dispose: () => rm(path, { recursive: true }),
  };
});

objectStoreContract(
  "file, names as on a case-folding file system, two entries at a time",
  async () => {
    const path = await mkdtemp(join(tmpdir(), "lapse-store-"));
    await openObjectStore({ kind: "file", path });
    return {
      store: fileObjectStore({
        path,
        uploads: join(path, ".lapse-uploads"),
        names: segmentNames(true),
        windowEntries: 2,
      }),
      keyUnderKey: false,
      dispose: () => rm(path, { recursive: true }),
    };
  },
);
