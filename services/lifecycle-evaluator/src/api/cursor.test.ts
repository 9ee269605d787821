import { describe, expect, test } from "@jest/globals";
import { advance, type DuePlace } from "../domain/due-order.ts";
import { readDueCursor, writeDueCursor } from "./cursor.ts";
import type { Faults } from "./parse.ts";

const ENVIRONMENT = "0190a000-0000-7000-8000-000000000001";
const place = (source: DuePlace["source"]): DuePlace => ({
  environmentId: ENVIRONMENT,
  source,
  at: new Date("2026-05-01T12:34:56.789Z"),
  tableId: "0190a000-0000-7000-8000-000000000002",
});
const read = (text: string, environmentId = ENVIRONMENT) => {
  const faults: Faults = [];
  return { cursor: readDueCursor(faults, text, environmentId), faults };
};

describe("a cursor of expiring tables", () => {
  test("comes back as it was written", () => {
    const cursor = advance(new Map(), [place("table"), place("environment")]);
    expect(read(writeDueCursor(cursor))).toEqual({ cursor, faults: [] });
  });

  test("is empty at the end of the list, and for its start", () => {
    expect(writeDueCursor(null)).toBe("");
    expect(read("").cursor.size).toBe(0);
  });

  test("of one environment leads to no place in another's", () => {
    const other = "0190a000-0000-7000-8000-000000000003";
    const { cursor } = read(writeDueCursor(advance(new Map(), [place("table")])), other);
    expect([...cursor.values()].map(({ environmentId }) => environmentId)).toEqual([other]);
  });

  test.each([
    "nonsense",
    "null",
    "[1]",
    '[["table"]]',
    '[["tables",1,"0190a000-0000-7000-8000-000000000002"]]',
    '[["table",1,"x"]]',
    '[["table",null,"0190a000-0000-7000-8000-000000000002"]]',
    '[["table",9e15,"0190a000-0000-7000-8000-000000000002"]]',
    "[[],[],[]]",
  ])("%s was not written here", (text) => {
    const { faults } = read(Buffer.from(text).toString("base64url"));
    expect(faults).toMatchObject([{ field: "/cursor" }]);
  });
});
