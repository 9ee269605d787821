import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from "@jest/globals";
import { deletePrefix, openObjectStore } from "@lapse/object-store";
import { compilePrograms, type ProgramOptions, type Programs } from "./run-program.ts";

jest.setTimeout(60_000);

const BUCKET = "acme--lake";
const NOBODY = "65534";
const isRoot = process.getuid?.() === 0;
const canMount = spawnSync("unshare", ["--map-root-user", "--mount", "true"]).status === 0;

let programs: Programs;
let path: string;
beforeAll(async () => {
  programs = await compilePrograms();
});
afterAll(async () => {
  await programs.remove();
});
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "lapse-failures-"));
});
afterEach(async () => {
  await rm(path, { recursive: true });
});

async function putOnce(options: ProgramOptions): Promise<unknown> {
  const child = programs.start("put-once", options);
  const [output] = await Promise.all([child.stdout && text(child.stdout), once(child, "exit")]);
  return JSON.parse(output ?? "");
}

describe("a file store that cannot write", () => {
  const limited = ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"];

  test("a file that outgrows the limit is unavailable, and only that put fails", async () => {
    const outcome = await putOnce({ args: [path, "1000000"], wrapper: limited });
    expect(outcome).toEqual({
      failure: {
        name: "ObjectStoreError",
        kind: "unavailable",
        message: `Cannot put "large" into bucket "acme--lake": the file is larger than the file system allows.`,
      },
      keys: ["after", "small"],
    });
    expect(await readdir(join(path, ".lapse-uploads"))).toEqual([]);
  });

  test("without the limit the same put succeeds", async () => {
    const outcome = await putOnce({ args: [path, "1000000"] });
    expect(outcome).toEqual({ failure: null, keys: ["after", "large", "small"] });
  });

  const whereMountsAreAllowed = canMount ? test : test.skip;
  whereMountsAreAllowed(
    "a full disk is unavailable, and what the failed put took is free again (needs user namespaces)",
    async () => {
      const mount = 'mount -t tmpfs -o size=256k tmpfs "$0" && exec "$@"';
      const outcome = await putOnce({
        args: [path, "1000000"],
        wrapper: ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, path],
      });
      expect(outcome).toMatchObject({
        failure: {
          kind: "unavailable",
          message: `Cannot put "large" into bucket "acme--lake": the disk is full.`,
        },
        keys: ["after", "small"],
      });
    },
  );

  test("a directory without permission is unavailable", async () => {
    const store = join(path, "store");
    await mkdir(store);
    await chmod(store, 0o555);
    await chmod(path, 0o755);
    const outcome = await putOnce({ args: [store, "1", ...(isRoot ? [NOBODY] : [])] });
    expect(outcome).toMatchObject({
      failure: {
        name: "ObjectStoreError",
        kind: "unavailable",
        message: expect.stringMatching(/^Cannot open the object store at .*: permission denied\.$/),
      },
    });
    expect(await readdir(store)).toEqual([]);
  });
});

describe("a file store whose process is killed (rule 5)", () => {
  /** Runs `churn` until it has told `lines` lines, kills it, and gives what it told. */
  async function churnAndKill(lines: number): Promise<readonly string[]> {
    const child = programs.start("churn", { args: [path] });
    const told: string[] = [];
    const exited = once(child, "exit");
    if (child.stdout === null) throw new Error("churn has no output");
    for await (const line of createInterface({ input: child.stdout })) {
      told.push(line);
      if (told.length === lines) child.kill("SIGKILL");
    }
    await exited;
    return told;
  }

  test("every object is whole, every acknowledged step holds, and all can be deleted", async () => {
    const expected = new Map<string, readonly string[]>();
    for (const lines of [7, 12, 23, 31, 40, 52, 61, 75]) {
      for (const line of await churnAndKill(lines)) {
        const [sign, key = "", number = ""] = line.split(" ");
        const before = expected.get(key) ?? ["0"];
        expected.set(key, sign === "!" ? [number] : [...before, number]);
      }
      const store = await openObjectStore({ kind: "file", path });
      const found = new Map<string, string>();
      for await (const { key } of store.walk(BUCKET)) {
        const { body } = await store.get(BUCKET, key);
        const stored = await text(body);
        const number = stored.slice(0, stored.indexOf(";"));
        expect([20_000, 40_000]).toContain(stored.length / `${number};`.length);
        expect(stored).toBe(`${number};`.repeat(stored.length / `${number};`.length));
        found.set(key, number);
      }
      for (const [key, possible] of expected) expect(possible).toContain(found.get(key) ?? "0");
      for (const key of found.keys()) expect([...expected.keys()]).toContain(key);
      for (const [key] of expected) expected.set(key, [found.get(key) ?? "0"]);
    }

    const store = await openObjectStore({ kind: "file", path });
    expect(await deletePrefix(store, BUCKET, "dev/")).toMatchObject({ failed: 0, next: null });
    await store.deleteBucket(BUCKET);
  });
});
