import { expect, test } from "@jest/globals";
import { advance, type DuePlace } from "./due-order.ts";

const place = (source: DuePlace["source"], tableId: string): DuePlace => ({
  environmentId: "e",
  source,
  at: new Date(0),
  tableId,
});

test("a cursor keeps the last place of each source, and leaves the one before it as it was", () => {
  const first = advance(new Map(), [place("table", "a"), place("table", "b")]);
  const second = advance(first, [place("environment", "c")]);
  expect([...first.values()]).toEqual([place("table", "b")]);
  expect([...second.values()]).toEqual([place("table", "b"), place("environment", "c")]);
});
