import { describe, expect, test } from "@jest/globals";
import { failure, type Scene } from "./scene.ts";

export function describeConditions(scene: () => Promise<Scene>): void {
  describe("conditions", () => {
    test("put with ifNoneMatch creates, and never overwrites", async () => {
      const { store, bucket, text } = await scene();
      await store.put(bucket, "a/k", Buffer.from("first"), { ifNoneMatch: "*" });
      const again = store.put(bucket, "a/k", Buffer.from("second"), { ifNoneMatch: "*" });
      await expect(again).rejects.toMatchObject(failure("precondition"));
      expect(await text("a/k")).toBe("first");
      await store.put(bucket, "a/k", Buffer.from("third"));
      expect(await text("a/k")).toBe("third");
    });

    test("of many creators of one key exactly one wins, and its body is stored", async () => {
      const { store, bucket, text } = await scene();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 12 }, (_, index) =>
          store.put(bucket, "a/k", Buffer.from(`${index}`), { ifNoneMatch: "*" }),
        ),
      );
      const won = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
      expect(won).toHaveLength(1);
      expect(await text("a/k")).toBe(`${won[0]}`);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") {
          expect(outcome.reason).toMatchObject(failure("precondition"));
        }
      }
    });

    test("delete with ifMatch deletes that version", async () => {
      const { store, bucket, putText } = await scene();
      const etag = await putText("a/k", "x");
      await store.delete(bucket, "a/k", { ifMatch: etag });
      expect(await store.head(bucket, "a/k")).toBeNull();
    });

    test("F15 delete with ifMatch leaves alone what was overwritten since", async () => {
      const { store, bucket, putText, text } = await scene();
      const old = await putText("a/k", "old");
      const current = await putText("a/k", "new");
      await expect(store.delete(bucket, "a/k", { ifMatch: old })).rejects.toMatchObject(
        failure("precondition"),
      );
      expect(await text("a/k")).toBe("new");
      expect((await store.head(bucket, "a/k"))?.etag).toBe(current);
    });

    test("without ifMatch the same delete takes the newer version", async () => {
      const { store, bucket, putText } = await scene();
      await putText("a/k", "old");
      await putText("a/k", "new");
      await store.delete(bucket, "a/k");
      expect(await store.head(bucket, "a/k")).toBeNull();
    });

    test("delete with ifMatch of a missing object is fine, so that it can be repeated", async () => {
      const { store, bucket, putText } = await scene();
      const etag = await putText("a/k", "x");
      await store.delete(bucket, "a/k", { ifMatch: etag });
      await store.delete(bucket, "a/k", { ifMatch: etag });
      await store.delete(bucket, "never/was", { ifMatch: etag });
    });

    test.each(["", "*", "x", "../../etc", "1-2-3"])(
      "an etag that no version has, deletes nothing: %j",
      async (ifMatch) => {
        const { store, bucket, putText, text } = await scene();
        await putText("a/k", "kept");
        await expect(store.delete(bucket, "a/k", { ifMatch })).rejects.toMatchObject(
          failure("precondition"),
        );
        expect(await text("a/k")).toBe("kept");
      },
    );

    test("F15 a newer version survives conditional deletes of the older that race with its put", async () => {
      const { store, bucket, putText, text } = await scene();
      for (let round = 0; round < 40; round++) {
        const key = `a/${round}`;
        const old = await putText(key, "old");
        const outcomes = await Promise.allSettled([
          store.delete(bucket, key, { ifMatch: old }),
          putText(key, "new"),
          store.delete(bucket, key, { ifMatch: old }),
        ]);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") {
            expect(outcome.reason).toMatchObject(failure("precondition"));
          }
        }
        expect(await text(key)).toBe("new");
      }
    });
  });
}
