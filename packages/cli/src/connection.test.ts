import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { findConnection } from "./connection.ts";
import { UsageError } from "./exit.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lapse-cli-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(folder: string, value: unknown): void {
  mkdirSync(folder, { recursive: true });
  const text = typeof value === "string" ? value : JSON.stringify(value);
  writeFileSync(join(folder, "cli.json"), text);
}
const find = (cwd: string, env: Record<string, string> = {}) =>
  findConnection({ cwd, env: { HOME: join(root, "home"), ...env } });

describe("findConnection", () => {
  test("finds the local stack's cli.json from a folder below", () => {
    write(join(root, ".lapse"), { url: "http://127.0.0.1:8080", token: "t" });
    const deep = join(root, "a", "b");
    mkdirSync(deep, { recursive: true });
    expect(find(deep)).toMatchObject({ url: "http://127.0.0.1:8080", token: "t" });
  });

  test("takes the folder that LAPSE_LOCAL__DIR names before the one found above", () => {
    write(join(root, ".lapse"), { url: "http://127.0.0.1:8080", token: "t" });
    write(join(root, "other"), { url: "http://127.0.0.1:9080", token: "u" });
    expect(find(root, { LAPSE_LOCAL__DIR: "other" })).toMatchObject({ token: "u" });
  });

  test("says so when LAPSE_LOCAL__DIR names a folder without a stack", () => {
    expect(() => find(root, { LAPSE_LOCAL__DIR: "nowhere" })).toThrow(/no cli\.json/);
  });

  test("takes LAPSE_URL and LAPSE_TOKEN before what it finds", () => {
    write(join(root, ".lapse"), { url: "http://127.0.0.1:8080", token: "t" });
    const env = { LAPSE_URL: "https://lapse.example.org/", LAPSE_TOKEN: "u" };
    expect(find(root, env)).toEqual({
      url: "https://lapse.example.org",
      token: "u",
      from: "LAPSE_URL",
    });
  });

  test("falls back to what `lapse login` stored", () => {
    const folder = join(root, "home", ".config", "lapse");
    mkdirSync(folder, { recursive: true });
    const stored = { url: "https://lapse.example.org", token: "s" };
    writeFileSync(join(folder, "config.json"), JSON.stringify(stored));
    expect(find(root)).toMatchObject(stored);
  });

  test.each([
    ["not JSON", "{"],
    ["no token", { url: "http://127.0.0.1:8080" }],
    ["an address that is none", { url: "localhost", token: "t" }],
  ])("refuses a cli.json with %s, naming the file or the address", (_, value) => {
    write(join(root, ".lapse"), value);
    expect(() => find(root)).toThrow(UsageError);
  });

  test("names the ways to connect when there is none", () => {
    expect(() => find(root)).toThrow(/make up.*LAPSE_URL.*lapse login/);
  });

  test("asks for the token when only the address is given", () => {
    expect(() => find(root, { LAPSE_URL: "http://127.0.0.1:8080" })).toThrow(/LAPSE_TOKEN/);
  });
});
