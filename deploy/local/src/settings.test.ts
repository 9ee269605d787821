import { describe, expect, test } from "@jest/globals";
import { readSettings } from "./settings.ts";

describe("readSettings", () => {
  test("defaults to .lapse in the current folder and no offset", () => {
    expect(readSettings({}, "/srv/app")).toEqual({ dir: "/srv/app/.lapse", portOffset: 0 });
  });

  test("resolves a relative folder and reads the offset", () => {
    const env = { LAPSE_LOCAL__DIR: "../data", LAPSE_LOCAL__PORT_OFFSET: "50000" };
    expect(readSettings(env, "/srv/app")).toEqual({ dir: "/srv/data", portOffset: 50_000 });
  });

  test.each(["-1", "50001", "1.5", "ten", "0x10"])("refuses the offset %s", (offset) => {
    const read = () => readSettings({ LAPSE_LOCAL__PORT_OFFSET: offset }, "/");
    expect(read).toThrow("LAPSE_LOCAL__PORT_OFFSET must be a whole number from 0 to 50000");
  });

  test("names every fault at once, unknown settings too", () => {
    const env = { LAPSE_LOCAL__PORTS: "1", LAPSE_LOCAL__PORT_OFFSET: "x" };
    expect(() => readSettings(env, "/")).toThrow(/LAPSE_LOCAL__PORTS is not a setting.*must be/);
  });
});
