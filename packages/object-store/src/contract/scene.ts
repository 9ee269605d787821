import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { ByteRange, KeyRange, ListOptions, ObjectStat, ObjectStore } from "../object-store.ts";

/** A store under test. */
export interface ContractSubject {
  readonly store: ObjectStore;
  /** Whether `a` and `a/b` can both be objects; a store of files and directories refuses that. */
  readonly keyUnderKey: boolean;
  /** Removes what the suite stored. */
  dispose(): Promise<void>;
}

/** A store and a bucket of its own for one test, with short forms of what tests do all the time. */
export interface Scene {
  readonly store: ObjectStore;
  readonly bucket: string;
  readonly keyUnderKey: boolean;
  putText(key: string, text: string): Promise<string>;
  text(key: string, range?: ByteRange): Promise<string>;
  /** All that a walk of the range yields. */
  walked(range?: KeyRange): Promise<ObjectStat[]>;
  /** All keys by pages of `limit`. */
  keys(options?: ListOptions): Promise<string[]>;
}

export async function sceneOf({ store, keyUnderKey }: ContractSubject): Promise<Scene> {
  const bucket = `contract-${randomUUID()}`;
  await store.createBucket(bucket);
  return {
    store,
    bucket,
    keyUnderKey,
    async putText(key, text) {
      return (await store.put(bucket, key, Buffer.from(text))).etag;
    },
    async text(key, range) {
      const { body } = await store.get(bucket, key, range === undefined ? {} : { range });
      return (await buffer(body)).toString();
    },
    async walked(range = {}) {
      const objects: ObjectStat[] = [];
      for await (const object of store.walk(bucket, range)) objects.push(object);
      return objects;
    },
    async keys(options = {}) {
      const keys: string[] = [];
      let page = await store.list(bucket, options);
      for (;;) {
        keys.push(...page.objects.map((object) => object.key));
        if (page.next === null) return keys;
        page = await store.list(bucket, { ...options, startAfter: page.next });
      }
    },
  };
}

/** What a refusal looks like, for `rejects.toMatchObject`. */
export function failure(kind: "not_found" | "precondition" | "invalid" | "unavailable") {
  return { name: "ObjectStoreError", kind };
}
