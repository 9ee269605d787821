/** What the object store says about a file; null: it has no such file. */
export interface StoredFile {
  readonly byteSize: bigint;
  /** Its first and last four bytes; asked for only where {@link hasMagic}. */
  readonly head?: Uint8Array;
  readonly tail?: Uint8Array;
}

const PARQUET_MAGIC = "PAR1";
/** Magic, the footer's length, magic: nothing shorter is Parquet. */
const SMALLEST_PARQUET = 12n;

/** Whether a file of this path must begin and end with Parquet's magic bytes. */
export const hasMagic = (path: string): boolean => path.toLowerCase().endsWith(".parquet");

/** Why a file cannot be read as what the catalog takes it for, or undefined when it can (T28). */
export function integrityFault(
  file: { readonly path: string; readonly byteSize: bigint },
  stored: StoredFile | null,
): string | undefined {
  if (!stored) return "is not in the object store";
  if (stored.byteSize !== file.byteSize) {
    return `has ${stored.byteSize} bytes in the object store, not ${file.byteSize}`;
  }
  if (!hasMagic(file.path)) return undefined;
  const whole = stored.byteSize >= SMALLEST_PARQUET && isMagic(stored.head) && isMagic(stored.tail);
  return whole ? undefined : "is no whole Parquet file: it does not begin and end with PAR1";
}

const isMagic = (bytes: Uint8Array | undefined): boolean =>
  bytes !== undefined && Buffer.from(bytes).toString("latin1") === PARQUET_MAGIC;
