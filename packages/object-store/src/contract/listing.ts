import { describe, expect, test } from "@jest/globals";
import { failure, type Scene } from "./scene.ts";

/** In UTF-8 byte order, where a slash sorts between a dot and a digit. */
const SORTED = [
  "a-b",
  "a.txt",
  "a/",
  "a/b",
  "a/b-c",
  "a0",
  "b//c",
  "b/0",
  "c",
  "dev-x/1",
  "dev/1",
  "dev/10/x",
  "dev/2/x",
  "z",
  "é",
  "\ue000",
  "\uffee/x",
  "😀",
  "😀x",
];

export function describeListing(scene: () => Promise<Scene>): void {
  const filled = async (): Promise<Scene> => {
    const stage = await scene();
    for (const key of SORTED.toReversed()) await stage.putText(key, key);
    return stage;
  };

  describe("listing", () => {
    test("an empty bucket lists nothing", async () => {
      const { store, bucket, walked } = await scene();
      expect(await store.list(bucket)).toEqual({ objects: [], next: null });
      expect(await walked()).toEqual([]);
    });

    test("keys come in UTF-8 byte order, by pages and by a walk", async () => {
      const { keys, walked } = await filled();
      expect(await keys()).toEqual(SORTED);
      for (const limit of [1, 2, 3, 7, SORTED.length - 1, SORTED.length]) {
        expect(await keys({ limit })).toEqual(SORTED);
      }
      expect((await walked()).map((object) => object.key)).toEqual(SORTED);
    });

    test("a full page has a next only when there is more", async () => {
      const { store, bucket } = await filled();
      const all = await store.list(bucket, { limit: SORTED.length });
      expect(all.next).toBeNull();
      const short = await store.list(bucket, { limit: SORTED.length - 1 });
      expect(short.next).toBe(SORTED.at(-2));
      expect(short.objects).toHaveLength(SORTED.length - 1);
    });

    test("a listing starts after any text, whether it is a key or not", async () => {
      const { keys } = await filled();
      const after = (text: string) => SORTED.slice(SORTED.indexOf(text) + 1);
      for (const key of SORTED) expect(await keys({ startAfter: key })).toEqual(after(key));
      expect(await keys({ startAfter: "a" })).toEqual(SORTED);
      expect(await keys({ startAfter: "a/b-" })).toEqual(after("a/b"));
      expect(await keys({ startAfter: "a/b0" })).toEqual(after("a/b-c"));
      expect(await keys({ startAfter: "b" })).toEqual(after("a0"));
      expect(await keys({ startAfter: "b/" })).toEqual(after("a0"));
      expect(await keys({ startAfter: "dev/10/" })).toEqual(after("dev/1"));
      expect(await keys({ startAfter: "dev/10/x/y" })).toEqual(after("dev/10/x"));
      expect(await keys({ startAfter: "\u{10ffff}" })).toEqual([]);
      expect(await keys({ startAfter: "../up" })).toEqual(SORTED);
    });

    test("a prefix is literal, case-sensitive and may end anywhere in a segment", async () => {
      const { keys } = await filled();
      for (const prefix of [
        ...SORTED,
        "a",
        "a/b",
        "b/",
        "b//",
        "dev",
        "dev/",
        "dev/1",
        "dev/1/",
        "/",
        "",
        "DEV/",
        "a*",
        "d..",
      ]) {
        const expected = SORTED.filter((key) => key.startsWith(prefix));
        expect(await keys({ prefix })).toEqual(expected);
        expect(await keys({ prefix, limit: 1 })).toEqual(expected);
      }
    });

    test("a prefix and a start go together", async () => {
      const { keys } = await filled();
      expect(await keys({ prefix: "dev/", startAfter: "dev/1" })).toEqual(["dev/10/x", "dev/2/x"]);
      expect(await keys({ prefix: "dev/", startAfter: "a" })).toEqual(
        SORTED.filter((key) => key.startsWith("dev/")),
      );
      expect(await keys({ prefix: "dev/", startAfter: "dev/2/x" })).toEqual([]);
      expect(await keys({ prefix: "dev/", startAfter: "z" })).toEqual([]);
    });

    test("a listing goes on by its marker while keys before and at it are deleted", async () => {
      const { store, bucket } = await filled();
      const seen: string[] = [];
      let marker: string | null = "";
      while (marker !== null) {
        const page = await store.list(bucket, { limit: 4, startAfter: marker });
        for (const { key } of page.objects) {
          seen.push(key);
          await store.delete(bucket, key);
        }
        marker = page.next;
      }
      expect(seen).toEqual(SORTED);
      expect((await store.list(bucket)).objects).toEqual([]);
    });

    test("what is put during a walk neither breaks nor repeats it", async () => {
      const { store, bucket, putText } = await filled();
      const seen: string[] = [];
      for await (const { key } of store.walk(bucket)) {
        seen.push(key);
        await putText("dev/1", "again");
        await putText(`new-${seen.length}`, "x");
      }
      expect(seen.filter((key) => !key.startsWith("new-"))).toEqual(SORTED);
      expect(new Set(seen).size).toBe(seen.length);
    });

    test("an object put after a page is in the next one", async () => {
      const { store, bucket, putText } = await filled();
      const page = await store.list(bucket, { limit: 5 });
      await putText("b/late", "x");
      const next = await store.list(bucket, { startAfter: page.next ?? "", limit: 10 });
      expect(next.objects.map((object) => object.key)).toContain("b/late");
    });

    test.each([0, -1, 1001, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
      "a page of %d is refused",
      async (limit) => {
        const { store, bucket } = await scene();
        await expect(store.list(bucket, { limit })).rejects.toMatchObject(failure("invalid"));
      },
    );

    test.each([
      ["a step up", "../"],
      ["a step up inside", "a/../"],
      ["a dot inside", "a/./b"],
      ["NUL", "nul\0"],
      ["a lone surrogate", "lone\udc00"],
      ["over 1024 bytes", "x".repeat(1025)],
    ])("rule 8: a prefix with %s is refused", async (_, prefix) => {
      const { keys, walked } = await scene();
      await expect(keys({ prefix })).rejects.toMatchObject(failure("invalid"));
      await expect(walked({ prefix })).rejects.toMatchObject(failure("invalid"));
    });

    test("rule 8: a marker of more than 1024 bytes is refused", async () => {
      const { store, bucket } = await scene();
      const listing = store.list(bucket, { startAfter: "x".repeat(1025) });
      await expect(listing).rejects.toMatchObject(failure("invalid"));
    });
  });
}
