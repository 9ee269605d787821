import { expect, test } from "@jest/globals";
import { isId, newId } from "./ids.ts";

test("ids are UUIDv7 in lower case and rise", () => {
  const ids = Array.from({ length: 10_000 }, newId);
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});

test("only what PostgreSQL takes as a UUID is an id", () => {
  expect(isId(newId())).toBe(true);
  expect(isId(newId().toUpperCase())).toBe(true);
  for (const text of ["", "1", "'; drop table x; --", `${newId()}x`, `{${newId()}}`]) {
    expect(isId(text)).toBe(false);
  }
});
