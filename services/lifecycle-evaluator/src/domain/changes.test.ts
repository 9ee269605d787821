import { describe, expect, test } from "@jest/globals";
import { newestByKey } from "./changes.ts";

describe("newestByKey", () => {
  test("keeps the newest version of each, in the order of the keys, whatever the order they come in", () => {
    const changes = [
      { key: "b", version: 2n },
      { key: "a", version: 1n },
      { key: "b", version: 3n },
      { key: "b", version: 1n },
    ];
    const expected = [
      { key: "a", version: 1n },
      { key: "b", version: 3n },
    ];
    expect(newestByKey(changes, ({ key }) => key)).toEqual(expected);
    expect(newestByKey([...changes].reverse(), ({ key }) => key)).toEqual(expected);
  });

  test("of the same version the one that was said later counts", () => {
    const settled = { key: "a", version: 4n, sequence: 8n };
    const cleared = { key: "a", version: 4n, sequence: 9n };
    for (const changes of [
      [settled, cleared],
      [cleared, settled],
    ]) {
      expect(newestByKey(changes, ({ key }) => key)).toEqual([cleared]);
    }
  });
});
