import type { Readable } from "node:stream";

/** What a store knows of an object without its bytes. */
export interface ObjectStat {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Opaque; equal for the same stored version, different after any overwrite. Compare, never parse. */
  readonly etag: string;
  /** When this version was written, by the store's clock; milliseconds at most. */
  readonly lastModified: Date;
}

/** The bytes of a `put`. A stream is read to its end, or destroyed when the put fails. */
export type ObjectBody = Uint8Array | Readable;

export interface PutOptions {
  /** `"*"`: only where the key has no object yet; else `precondition`. Exactly one of many wins. */
  readonly ifNoneMatch?: "*";
}

export interface PutResult {
  readonly etag: string;
  /** Bytes. */
  readonly size: number;
}

/** Bytes `offset` to `offset + length - 1`; without `length`, or past the end, up to the end. */
export interface ByteRange {
  readonly offset: number;
  readonly length?: number;
}

export interface GetOptions {
  readonly range?: ByteRange;
}

export interface ObjectContent {
  /** The whole object's stat, whatever the range; of the same version as the body. */
  readonly stat: ObjectStat;
  /** Holds a descriptor or connection: read it to the end or destroy it. */
  readonly body: Readable;
}

export interface KeyRange {
  /** Literal and case-sensitive; default every key. */
  readonly prefix?: string;
  /** Only keys after this one in UTF-8 byte order; need not exist. */
  readonly startAfter?: string;
}

export interface ListOptions extends KeyRange {
  /** 1 to 1000, default 1000. */
  readonly limit?: number;
}

export interface ObjectPage {
  /** In UTF-8 byte order of their keys. */
  readonly objects: readonly ObjectStat[];
  /** `startAfter` of the next page; null when there was no more. */
  readonly next: string | null;
}

export interface DeleteOptions {
  /** Only this version (an {@link ObjectStat.etag}); overwritten since: `precondition`, kept. */
  readonly ifMatch?: string;
}

/**
 * Buckets of objects, as S3 has them. Two adapters, one contract (`@lapse/object-store/contract`).
 *
 * Every verb takes names from outside: they are checked (`checkBucket`, `checkKey`) and refused as
 * `invalid` (architecture rule 8). In a bucket that does not exist every object verb fails with
 * `not_found`, so that a store that lost its bucket never looks like one whose objects are gone.
 * Every verb may fail with `unavailable`. All failures are {@link ObjectStoreError}.
 *
 * Safe for any number of concurrent callers and processes; what a verb resolved for survives the
 * death of the process and of the machine.
 */
export interface ObjectStore {
  /** Creates the bucket; one that is there is fine. */
  createBucket(bucket: string): Promise<void>;

  /** Deletes an empty bucket; one that is missing is fine. With objects in it: `precondition`. */
  deleteBucket(bucket: string): Promise<void>;

  bucketExists(bucket: string): Promise<boolean>;

  /**
   * Stores all of `body` under `key`, or nothing: readers see the old object or the new one, never
   * a part. A body that fails while it is read fails the put with that very error.
   *
   * An adapter whose medium cannot hold a key under another object's key (`a/b` beside `a`) refuses
   * the second with `precondition`.
   */
  put(bucket: string, key: string, body: ObjectBody, options?: PutOptions): Promise<PutResult>;

  /**
   * Opens the object; no object: `not_found`. A range must start inside the object (offset below
   * its size) and be at least one byte: else `invalid`. A body that fails later is destroyed with
   * `unavailable`.
   */
  get(bucket: string, key: string, options?: GetOptions): Promise<ObjectContent>;

  /** The object's stat; null where the key has no object. */
  head(bucket: string, key: string): Promise<ObjectStat | null>;

  /** One page of a listing, strongly consistent; go on with `startAfter: page.next`. */
  list(bucket: string, options?: ListOptions): Promise<ObjectPage>;

  /**
   * All objects of a range as one long read, in order, each key at most once, in bounded memory.
   * What is put or deleted meanwhile may or may not be seen. To resume, start again after the last
   * key seen.
   */
  walk(bucket: string, range?: KeyRange): AsyncIterable<ObjectStat>;

  /** Deletes the object; one that is missing is fine, also with `ifMatch`. */
  delete(bucket: string, key: string, options?: DeleteOptions): Promise<void>;

  /**
   * The address by which DuckDB reads the object (`file:///…`, `s3://…`); taken literally, never
   * percent-encoded, since DuckDB does not decode. DuckDB reads `*`, `?` and `[` as patterns: a key
   * with one of them is `invalid` here. A file that DuckDB writes there is an object too, but on a
   * file system its directory must exist, and readers see it half written: prefer `put`.
   */
  uri(bucket: string, key: string): string;

  /** Ends connections; the store is not used after. */
  close(): Promise<void>;
}
