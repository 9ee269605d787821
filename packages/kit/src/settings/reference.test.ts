import { expect, test } from "@jest/globals";
import { NAMED_SETTINGS, nearestName, variableName } from "./names.ts";
import { settingsReference } from "./reference.ts";

test("a setting's variable spells its place in capitals", () => {
  expect(variableName(["tables", "maxExpiriesPerSweep"])).toBe(
    "LAPSE_TABLES__MAX_EXPIRIES_PER_SWEEP",
  );
  expect(variableName(["env"])).toBe("LAPSE_ENV");
});

test("every default is allowed by its own setting", () => {
  for (const { name, setting } of NAMED_SETTINGS) {
    if (setting.fallback === undefined) continue;
    expect([name, setting.kind.parse(setting.fallback)]).not.toEqual([name, undefined]);
  }
});

test("the nearest name is found over a slip, not over anything", () => {
  expect(nearestName("LAPSE_DATABASE_URL")).toBe("LAPSE_DATABASE__URL");
  expect(nearestName("LAPSE_TABLE__UNDO_DAYS")).toBe("LAPSE_TABLES__UNDO_DAYS");
  expect(nearestName("LAPSE_DATABASE__URL_FIL")).toBe("LAPSE_DATABASE__URL_FILE");
  expect(nearestName("LAPSE_SOMETHING_QUITE_DIFFERENT")).toBeUndefined();
});

test("the reference has a row for every setting, with default, kind and meaning", () => {
  const reference = settingsReference();
  for (const { name, setting } of NAMED_SETTINGS) {
    expect(reference).toContain(`| \`${name}\` |`);
    expect(setting.doc).toMatch(/\.$/);
    expect(setting.doc).not.toContain("|");
  }
  expect(reference).toContain(
    "| `LAPSE_TABLES__UNDO_DAYS` | `7` | a whole number from 0 to 3650 | How long",
  );
  expect(reference).toContain("## Table reads");
  expect(reference).toMatch(/LAPSE_DATABASE__URL` \| – \| .*\(secret, file\)/);
});
