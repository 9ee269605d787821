import { newId } from "@lapse/kit";
import type { ObjectStore } from "@lapse/object-store";
import type { Table } from "@lapse/proto/catalog";

/** A file as a commit names it. */
export interface LabFile {
  readonly path: string;
  readonly byteSize: bigint;
  readonly rowCount: bigint;
}

/** Puts something that passes for Parquet under a table's prefix. */
export async function putFile(
  store: ObjectStore,
  table: Pick<Table, "bucket" | "keyPrefix"> | undefined,
  { path = `data/${newId()}.parquet`, rowCount = 10n, content = "" } = {},
): Promise<LabFile> {
  if (!table) throw new Error("there is no table to put a file into");
  const body = Buffer.from(content || `PAR1${path}PAR1`);
  await store.put(table.bucket, table.keyPrefix + path, body);
  return { path, byteSize: BigInt(body.length), rowCount };
}

/** What lies under a table's prefix, relative to it. */
export async function storedPaths(
  store: ObjectStore,
  { bucket, keyPrefix }: Pick<Table, "bucket" | "keyPrefix">,
): Promise<string[]> {
  const paths: string[] = [];
  for await (const { key } of store.walk(bucket, { prefix: keyPrefix })) {
    paths.push(key.slice(keyPrefix.length));
  }
  return paths;
}
