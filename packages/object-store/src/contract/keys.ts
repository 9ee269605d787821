import { describe, expect, test } from "@jest/globals";
import { compareKeys } from "../object-key.ts";
import { failure, type Scene } from "./scene.ts";

const ODD_KEYS = [
  "dev/0192c7d8-6f0e-7b1c-9d3e-2a4f5b6c7d8e/data/part-0.parquet",
  "/leading",
  "trailing/",
  "//",
  "doubled//slash",
  "...",
  ".hidden/.file",
  "a/..b/c..",
  "Case",
  "case",
  "CASE",
  "\u00e9 composed",
  "e\u0301 decomposed",
  "日本語/データ.csv",
  "😀/emoji",
  "\uffee high unit",
  "space and\ttab",
  "line\nfeed",
  "quote'\"`$(rm -rf)",
  "back\\slash",
  "percent%2e%2e%2f",
  "glob*?[a]{b}",
  "~%marked",
  "~",
  "a~%b!",
  "~%!claim!00",
  "~=",
  ".lapse-uploads/x",
  "con.tmp",
  `${"x".repeat(255)}`,
  `${"x".repeat(256)}`,
  `${"x".repeat(256)}/child`,
  `${"y".repeat(255)}/${"é".repeat(300)}`,
  "z".repeat(1024),
  `s${"/s".repeat(511)}`,
  "/".repeat(1024),
];

export function describeKeys(scene: () => Promise<Scene>): void {
  describe("keys", () => {
    test("rule 8: every odd key is kept as given, apart from all others", async () => {
      const { store, bucket, keyUnderKey, putText, text, keys } = await scene();
      const taken = keyUnderKey ? ODD_KEYS : ODD_KEYS.filter((key) => !liesUnderAnother(key));
      for (const [index, key] of taken.entries()) await putText(key, `${index}`);
      expect(await keys()).toEqual([...taken].sort(compareKeys));
      for (const [index, key] of taken.entries()) {
        expect(await text(key)).toBe(`${index}`);
        expect(await store.head(bucket, key)).toMatchObject({ key });
      }
      for (const key of taken) await store.delete(bucket, key);
      expect(await keys()).toEqual([]);
      await store.deleteBucket(bucket);
    });

    test.each([
      ["empty", ""],
      ["over 1024 bytes", "x".repeat(1025)],
      ["over 1024 bytes of UTF-8", "é".repeat(513)],
      ["NUL", "a\0b"],
      ["a lone surrogate", "a\ud800b"],
      ["a step up", ".."],
      ["a path up", "../secret"],
      ["a path up inside", "a/../../secret"],
      ["a path up at the end", "a/.."],
      ["an absolute path up", "/../etc/passwd"],
      ["a dot", "."],
      ["a dot inside", "a/./b"],
    ])("rule 8: a key with %s is refused by every verb", async (_, key) => {
      const { store, bucket, keys } = await scene();
      const calls = [
        store.put(bucket, key, Buffer.from("x")),
        store.put(bucket, key, Buffer.from("x"), { ifNoneMatch: "*" }),
        store.get(bucket, key),
        store.head(bucket, key),
        store.delete(bucket, key),
        store.delete(bucket, key, { ifMatch: "e" }),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({ status: "rejected", reason: failure("invalid") });
      }
      expect(() => store.uri(bucket, key)).toThrow(expect.objectContaining(failure("invalid")));
      expect(await keys()).toEqual([]);
    });

    test("a key under another object's key is stored beside it, or refused and the first kept", async () => {
      const { store, bucket, keyUnderKey, putText, text, keys } = await scene();
      await putText("a", "first");
      await putText("b/c/d", "first");
      for (const [key, options] of [
        ["a/b", {}],
        ["a/b/c", { ifNoneMatch: "*" }],
        ["b/c", {}],
        ["b", { ifNoneMatch: "*" }],
      ] as const) {
        const putting = store.put(bucket, key, Buffer.from("second"), options);
        if (keyUnderKey) await putting;
        else await expect(putting).rejects.toMatchObject(failure("precondition"));
      }
      expect(await text("a")).toBe("first");
      expect(await text("b/c/d")).toBe("first");
      expect(await keys()).toEqual(
        keyUnderKey ? ["a", "a/b", "a/b/c", "b", "b/c", "b/c/d"] : ["a", "b/c/d"],
      );
      await store.delete(bucket, "a");
      await putText("a/b", "after");
      await store.delete(bucket, "b/c/d");
      await putText("b", "after");
      expect(await text("a/b")).toBe("after");
      expect(await text("b")).toBe("after");
    });

    test("an address names the object literally, and a key that would be a pattern has none", async () => {
      const { store, bucket } = await scene();
      expect(store.uri(bucket, "dev/data/x.parquet")).toMatch(
        new RegExp(`^[a-z0-9]+://.*${bucket}/dev/data/x\\.parquet$`),
      );
      expect(store.uri(bucket, "sp ace/x y")).toMatch(/\/sp ace\/x y$/);
      for (const key of ["a*.parquet", "a?.parquet", "a[1].parquet"]) {
        expect(() => store.uri(bucket, key)).toThrow(expect.objectContaining(failure("invalid")));
      }
    });
  });
}

function liesUnderAnother(key: string): boolean {
  return ODD_KEYS.some((other) => key.startsWith(`${other}/`));
}
