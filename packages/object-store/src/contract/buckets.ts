import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { failure, type Scene } from "./scene.ts";

export function describeBuckets(scene: () => Promise<Scene>): void {
  describe("buckets", () => {
    test("a created bucket exists, and creating it again keeps its objects", async () => {
      const { store, bucket, putText, text } = await scene();
      await putText("k", "kept");
      await store.createBucket(bucket);
      expect(await store.bucketExists(bucket)).toBe(true);
      expect(await text("k")).toBe("kept");
    });

    test("an empty bucket is deleted, and deleting it again is fine", async () => {
      const { store, bucket } = await scene();
      await store.deleteBucket(bucket);
      await store.deleteBucket(bucket);
      expect(await store.bucketExists(bucket)).toBe(false);
    });

    test("a bucket with an object is not deleted", async () => {
      const { store, bucket, putText, text } = await scene();
      await putText("deep/down/k", "kept");
      await expect(store.deleteBucket(bucket)).rejects.toMatchObject(failure("precondition"));
      expect(await text("deep/down/k")).toBe("kept");
      await store.delete(bucket, "deep/down/k");
      await store.deleteBucket(bucket);
    });

    test("a missing bucket is told apart from a missing object by every object verb", async () => {
      const { store } = await scene();
      const bucket = `contract-${randomUUID()}`;
      const calls = [
        store.put(bucket, "k", Buffer.from("x")),
        store.get(bucket, "k"),
        store.head(bucket, "k"),
        store.list(bucket),
        store.delete(bucket, "k"),
        store.delete(bucket, "k", { ifMatch: "e" }),
        store.walk(bucket)[Symbol.asyncIterator]().next(),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({ status: "rejected", reason: failure("not_found") });
      }
      expect(await store.bucketExists(bucket)).toBe(false);
    });

    test("a deleted bucket that is created again is empty", async () => {
      const { store, bucket, putText, keys } = await scene();
      await putText("a/b", "x");
      await store.delete(bucket, "a/b");
      await store.deleteBucket(bucket);
      await store.createBucket(bucket);
      expect(await keys()).toEqual([]);
    });

    test.each([
      "",
      "ab",
      "x".repeat(64),
      "Upper",
      "under_score",
      ".hidden",
      "-dash",
      "dash-",
      "a..b",
      "..",
      "../escape",
      "a/b",
      "/etc",
      "nul\0nul",
      "line\nfeed",
      "ünï",
    ])("rule 8: the bucket name %j is refused", async (name) => {
      const { store } = await scene();
      await expect(store.createBucket(name)).rejects.toMatchObject(failure("invalid"));
      await expect(store.deleteBucket(name)).rejects.toMatchObject(failure("invalid"));
      await expect(store.bucketExists(name)).rejects.toMatchObject(failure("invalid"));
      await expect(store.list(name)).rejects.toMatchObject(failure("invalid"));
      await expect(store.head(name, "k")).rejects.toMatchObject(failure("invalid"));
      expect(() => store.uri(name, "k")).toThrow(expect.objectContaining(failure("invalid")));
    });
  });
}
