import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { failure, type Scene } from "./scene.ts";

export function describeObjects(scene: () => Promise<Scene>): void {
  describe("objects", () => {
    test.each([0, 1, 65_536, 3_000_001])("%i bytes round-trip from a buffer", async (size) => {
      const { store, bucket } = await scene();
      const bytes = randomBytes(size);
      const put = await store.put(bucket, "dev/data/x.parquet", bytes);
      const { stat, body } = await store.get(bucket, "dev/data/x.parquet");
      expect(put.size).toBe(size);
      expect(stat).toMatchObject({ key: "dev/data/x.parquet", size, etag: put.etag });
      expect((await buffer(body)).equals(bytes)).toBe(true);
    });

    test("a stream round-trips, whatever its chunks", async () => {
      const { store, bucket, text } = await scene();
      const chunks = ["a", "", Buffer.from("bc"), "é", Buffer.alloc(200_000, "z")];
      const put = await store.put(bucket, "k", Readable.from(chunks));
      expect(put.size).toBe(200_005);
      expect(await text("k")).toBe(`abcé${"z".repeat(200_000)}`);
    });

    test("an empty stream is an empty object", async () => {
      const { store, bucket, text } = await scene();
      await store.put(bucket, "k", Readable.from([]));
      expect(await text("k")).toBe("");
    });

    test("put, head, get and list tell the same etag and size of a version", async () => {
      const { store, bucket, walked } = await scene();
      const put = await store.put(bucket, "k", Buffer.from("four"));
      const head = await store.head(bucket, "k");
      const { stat, body } = await store.get(bucket, "k");
      body.destroy();
      expect(head).toMatchObject({ key: "k", size: 4, etag: put.etag });
      expect(stat).toEqual(head);
      expect((await store.list(bucket)).objects).toEqual([head]);
      expect(await walked()).toEqual([head]);
    });

    test("a version's etag stays, and every overwrite changes it, of the same size too", async () => {
      const { store, bucket, putText, text } = await scene();
      const first = await putText("k", "old");
      expect((await store.head(bucket, "k"))?.etag).toBe(first);
      const second = await putText("k", "new");
      expect(second).not.toBe(first);
      expect((await store.head(bucket, "k"))?.etag).toBe(second);
      expect(await text("k")).toBe("new");
    });

    test("lastModified moves forward with an overwrite, never back", async () => {
      const { store, bucket, putText } = await scene();
      await putText("k", "old");
      const before = await store.head(bucket, "k");
      await putText("k", "new");
      const after = await store.head(bucket, "k");
      expect(before?.lastModified).toBeInstanceOf(Date);
      expect(Number(after?.lastModified)).toBeGreaterThanOrEqual(Number(before?.lastModified));
    });

    test("a missing object is null to head, fine to delete and not_found to get", async () => {
      const { store, bucket } = await scene();
      expect(await store.head(bucket, "a/b")).toBeNull();
      await store.delete(bucket, "a/b");
      await expect(store.get(bucket, "a/b")).rejects.toMatchObject(failure("not_found"));
    });

    test("a prefix of a key is no object", async () => {
      const { store, bucket, putText, text } = await scene();
      await putText("a/b/c", "kept");
      expect(await store.head(bucket, "a/b")).toBeNull();
      await expect(store.get(bucket, "a")).rejects.toMatchObject(failure("not_found"));
      await store.delete(bucket, "a/b");
      await store.delete(bucket, "a/b/c/d");
      expect(await text("a/b/c")).toBe("kept");
    });

    test("a range gives those bytes and the stat of the whole", async () => {
      const { store, bucket, putText, text } = await scene();
      await putText("k", "0123456789");
      expect(await text("k", { offset: 2, length: 3 })).toBe("234");
      expect(await text("k", { offset: 7 })).toBe("789");
      expect(await text("k", { offset: 8, length: 100 })).toBe("89");
      expect(await text("k", { offset: 9, length: 1 })).toBe("9");
      const { stat, body } = await store.get(bucket, "k", { range: { offset: 0, length: 1 } });
      body.destroy();
      expect(stat.size).toBe(10);
    });

    test.each([
      { offset: 10 },
      { offset: -1 },
      { offset: 0.5 },
      { offset: Number.NaN },
      { offset: 0, length: 0 },
      { offset: 0, length: -1 },
      { offset: 0, length: 1.5 },
    ])("a range that is not inside the object is refused: %j", async (range) => {
      const { store, bucket, putText } = await scene();
      await putText("k", "0123456789");
      await expect(store.get(bucket, "k", { range })).rejects.toMatchObject(failure("invalid"));
    });

    test("a reader keeps the version that it opened while it is overwritten or deleted", async () => {
      const { store, bucket, putText } = await scene();
      const old = "old".repeat(500_000);
      await putText("k", old);
      const overwritten = await store.get(bucket, "k");
      await putText("k", "new");
      expect((await buffer(overwritten.body)).toString()).toBe(old);
    });

    test("a put under way is not seen, and then seen whole", async () => {
      const { store, bucket, putText, keys, text } = await scene();
      await putText("k", "old");
      const body = new Readable({ read() {} });
      const putting = store.put(bucket, "k", body);
      const other = new Readable({ read() {} });
      const creating = store.put(bucket, "new", other);
      body.push("n");
      other.push("n");
      expect(await keys()).toEqual(["k"]);
      expect(await text("k")).toBe("old");
      expect(await store.head(bucket, "new")).toBeNull();
      for (const each of [body, other]) {
        each.push("ew");
        each.push(null);
      }
      await Promise.all([putting, creating]);
      expect(await text("k")).toBe("new");
      expect(await keys()).toEqual(["k", "new"]);
    });

    test("a body that fails, fails the put with its own error and changes nothing", async () => {
      const { store, bucket, putText, keys, text } = await scene();
      await putText("k", "old");
      const reason = new Error("source broke");
      async function* broken() {
        yield Buffer.from("half");
        throw reason;
      }
      await expect(store.put(bucket, "k", Readable.from(broken()))).rejects.toBe(reason);
      await expect(store.put(bucket, "new", Readable.from(broken()))).rejects.toBe(reason);
      expect(await keys()).toEqual(["k"]);
      expect(await text("k")).toBe("old");
    });

    test("a body is destroyed when its put is refused", async () => {
      const { store, bucket } = await scene();
      const body = new Readable({ read() {} });
      await expect(store.put(bucket, "..", body)).rejects.toMatchObject(failure("invalid"));
      expect(body.destroyed).toBe(true);
    });

    test("concurrent puts of one key leave one of them, whole", async () => {
      const { store, bucket, text, keys } = await scene();
      const bodies = Array.from({ length: 16 }, (_, index) =>
        String.fromCharCode(97 + index).repeat(100_000),
      );
      await Promise.all(bodies.map((body) => store.put(bucket, "a/k", Readable.from([body]))));
      expect(bodies).toContain(await text("a/k"));
      expect(await keys()).toEqual(["a/k"]);
    });

    test("puts and deletes under one prefix at once lose no object", async () => {
      const { store, bucket, keys } = await scene();
      const churn = async (worker: number) => {
        for (let round = 0; round < 20; round++) {
          await store.put(bucket, `p/q/${worker}`, Buffer.from("x"));
          await store.delete(bucket, `p/q/${worker}`);
        }
        await store.put(bucket, `p/q/${worker}`, Buffer.from("kept"));
      };
      await Promise.all([0, 1, 2, 3, 4, 5].map(churn));
      expect(await keys()).toEqual(["p/q/0", "p/q/1", "p/q/2", "p/q/3", "p/q/4", "p/q/5"]);
    });
  });
}
