import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compareKeys } from "../object-key.ts";
import { failure, type Scene } from "./scene.ts";

const segment = fc.oneof(
  fc.constantFrom("a", "b", "A", "", "a.b", "a-b", "a0", "~%", "😀", "\uffee"),
  fc.string({ unit: "binary", maxLength: 8 }).filter((text) => !/[\0/]/.test(text)),
  fc.integer({ min: 250, max: 300 }).map((length) => "x".repeat(length)),
);
const key = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .filter((segments) => !segments.includes(".") && !segments.includes(".."))
  .map((segments) => segments.join("/"))
  .filter((text) => text !== "");

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("put" as const), key, text: fc.string() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("list" as const),
      prefix: fc.constantFrom("", "a", "a/", "x"),
      startAfter: fc.option(key, { nil: "" }),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
);

export function describeModel(scene: () => Promise<Scene>): void {
  describe("as a sorted map", () => {
    test("any keys, put, deleted and listed in any order, act as in a sorted map", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const { store, bucket, keyUnderKey, putText, text, keys } = await scene();
          const model = new Map<string, string>();
          for (const act of steps) {
            if (act.kind === "delete") {
              await store.delete(bucket, act.key);
              model.delete(act.key);
            } else if (act.kind === "list") {
              const { kind: _, ...options } = act;
              expect(await keys(options)).toEqual(listed(model, options));
            } else if (!keyUnderKey && nests(model, act.key)) {
              await expect(putText(act.key, act.text)).rejects.toMatchObject(
                failure("precondition"),
              );
            } else {
              await putText(act.key, act.text);
              model.set(act.key, act.text);
            }
          }
          expect(await keys()).toEqual(listed(model, { prefix: "", startAfter: "" }));
          for (const [each, stored] of model) {
            expect(await text(each)).toBe(stored);
            await store.delete(bucket, each);
          }
          await store.deleteBucket(bucket);
        }),
        { numRuns: 60 },
      );
    });
  });
}

function listed(
  model: ReadonlyMap<string, string>,
  { prefix, startAfter }: { prefix: string; startAfter: string },
): string[] {
  return [...model.keys()]
    .filter((each) => each.startsWith(prefix))
    .filter((each) => startAfter === "" || compareKeys(each, startAfter) > 0)
    .sort(compareKeys);
}

function nests(model: ReadonlyMap<string, string>, added: string): boolean {
  return [...model.keys()].some(
    (each) => added.startsWith(`${each}/`) || each.startsWith(`${added}/`),
  );
}
