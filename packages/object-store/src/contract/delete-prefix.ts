import { describe, expect, test } from "@jest/globals";
import { deletePrefix } from "../delete-prefix.ts";
import { ObjectStoreError } from "../errors.ts";
import type { ObjectStore } from "../object-store.ts";
import { failure, type Scene } from "./scene.ts";

export function describeDeletePrefix(scene: () => Promise<Scene>): void {
  const filled = async (): Promise<Scene> => {
    const stage = await scene();
    for (let index = 0; index < 25; index++)
      await stage.putText(`dev/1/d${index % 3}/${index}`, "xx");
    await stage.putText("dev/12/other", "kept");
    await stage.putText("dev/1-other", "kept");
    return stage;
  };
  const kept = ["dev/1-other", "dev/12/other"];

  describe("deletePrefix", () => {
    test("T30 all under the prefix goes, with its count and bytes, and nothing beside it", async () => {
      const { store, bucket, keys } = await filled();
      expect(await deletePrefix(store, bucket, "dev/1/")).toEqual({
        deleted: 25,
        bytes: 50,
        failed: 0,
        failures: [],
        next: null,
      });
      expect(await keys()).toEqual(kept);
    });

    test("rule 5: it goes on by limit, and after a crash from the start, to the same end", async () => {
      const { store, bucket, keys } = await filled();
      const first = await deletePrefix(store, bucket, "dev/1/", { limit: 10 });
      expect(first).toMatchObject({ deleted: 10, next: "dev/1/d1/1" });
      const second = await deletePrefix(store, bucket, "dev/1/", {
        limit: 10,
        startAfter: first.next ?? "",
      });
      expect(second.deleted).toBe(10);
      const afresh = await deletePrefix(store, bucket, "dev/1/", { limit: 10 });
      expect(afresh).toMatchObject({ deleted: 5, next: null });
      expect(await deletePrefix(store, bucket, "dev/1/")).toMatchObject({ deleted: 0, next: null });
      expect(await keys()).toEqual(kept);
    });

    test("two at once reach the same end", async () => {
      const { store, bucket, keys } = await filled();
      const both = [deletePrefix(store, bucket, "dev/1/"), deletePrefix(store, bucket, "dev/1/")];
      for (const result of await Promise.all(both)) {
        expect(result).toMatchObject({ failed: 0, next: null });
      }
      expect(await keys()).toEqual(kept);
    });

    test("rule 10: an object that cannot be deleted stops no other and is named", async () => {
      const { store, bucket, keys } = await filled();
      const stuck = "dev/1/d0/12";
      const failing: ObjectStore = {
        ...store,
        async delete(inBucket, key, options) {
          if (key === stuck) throw new ObjectStoreError("unavailable", "Stuck.");
          await store.delete(inBucket, key, options);
        },
      };
      const result = await deletePrefix(failing, bucket, "dev/1/");
      expect(result).toMatchObject({ deleted: 24, bytes: 48, failed: 1, next: null });
      expect(result.failures).toMatchObject([{ key: stuck, error: failure("unavailable") }]);
      expect(await keys()).toEqual([kept[0], stuck, kept[1]]);
    });

    test.each(["", "dev/1", "../", "dev/../other/"])(
      "rule 8: the prefix %j deletes nothing",
      async (prefix) => {
        const { store, bucket, keys } = await filled();
        await expect(deletePrefix(store, bucket, prefix)).rejects.toMatchObject(failure("invalid"));
        expect(await keys()).toHaveLength(27);
      },
    );

    test.each([0, -1, 1.5, Number.NaN])("a limit of %d is refused", async (limit) => {
      const { store, bucket } = await scene();
      await expect(deletePrefix(store, bucket, "dev/", { limit })).rejects.toMatchObject(
        failure("invalid"),
      );
    });
  });
}
