import { execFileSync } from "node:child_process";
import {
  access,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ObjectStore } from "../object-store.ts";
import { openObjectStore } from "../open.ts";

jest.setTimeout(60_000);

const BUCKET = "acme--lake";
let root: string;
let outside: string;
let store: ObjectStore;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "lapse-layout-")));
  outside = await realpath(await mkdtemp(join(tmpdir(), "lapse-outside-")));
  store = await openObjectStore({ kind: "file", path: root });
  await store.createBucket(BUCKET);
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
  await rm(outside, { recursive: true });
});

const inBucket = (path: string) => join(root, BUCKET, path);
const put = (key: string, text = "x") => store.put(BUCKET, key, Buffer.from(text));
const keys = async () => (await store.list(BUCKET)).objects.map((object) => object.key);
const text = async (key: string) => {
  const { body } = await store.get(BUCKET, key);
  return (await buffer(body)).toString();
};
async function drop(path: string, content = "dropped"): Promise<void> {
  await mkdir(dirname(inBucket(path)), { recursive: true });
  await writeFile(inBucket(path), content);
}

describe("the layout on disk", () => {
  test("a plain key is that very path, and its address names it", async () => {
    const key = "dev/0192c7d8-6f0e-7b1c-9d3e-2a4f5b6c7d8e/data/x.parquet";
    await put(key, "rows");
    expect(await readFile(inBucket(key), "utf8")).toBe("rows");
    expect(store.uri(BUCKET, key)).toBe(`file://${inBucket(key)}`);
  });

  test("a file that another program wrote at the address is the object", async () => {
    const path = store.uri(BUCKET, "dev/t/data/y.parquet").slice("file://".length);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "by DuckDB");
    expect(await text("dev/t/data/y.parquet")).toBe("by DuckDB");
    expect(await keys()).toEqual(["dev/t/data/y.parquet"]);
  });

  test("a file dropped in by hand is an object, whatever its name, with its own last write", async () => {
    const names = ["Photo[1] of Zoë.JPG", "README", "a~", "b/.hidden", "c=1/~x"];
    for (const name of names) await drop(name);
    await utimes(inBucket("README"), 1_700_000_000, 1_700_000_000);
    expect(await keys()).toEqual([...names].sort());
    expect((await store.head(BUCKET, "README"))?.lastModified).toEqual(new Date(1_700_000_000_000));
    for (const name of names) await store.delete(BUCKET, name);
    expect(await readdir(inBucket(""))).toEqual([]);
  });

  test("a file under a name that encodes no key is no object, and is never touched", async () => {
    await drop("~%61");
    await drop("~%a~");
    await drop("d/~%", "the key d/");
    expect(await keys()).toEqual(["d/"]);
    await expect(store.deleteBucket(BUCKET)).rejects.toMatchObject({ kind: "precondition" });
    await store.delete(BUCKET, "d/");
    await expect(store.deleteBucket(BUCKET)).rejects.toMatchObject({
      kind: "precondition",
      message: expect.stringContaining("files that are not objects"),
    });
    expect((await readdir(inBucket(""))).sort()).toEqual(["~%61", "~%a~"]);
  });

  test("a file too deep for a key is no object", async () => {
    const deep = Array.from({ length: 6 }, () => "d".repeat(200)).join("/");
    await drop(`${deep}/x`);
    await drop(`${deep.slice(0, 1004)}/${"f".repeat(30)}`);
    await drop("near");
    expect(await keys()).toEqual(["near"]);
  });

  test("a delete prunes the directories that it empties, and no other", async () => {
    await put("a/b/c/d");
    await put("a/e");
    await store.delete(BUCKET, "a/b/c/d");
    expect(await readdir(inBucket("a"))).toEqual(["e"]);
    await store.delete(BUCKET, "a/e");
    expect(await readdir(inBucket(""))).toEqual([]);
    expect(await store.bucketExists(BUCKET)).toBe(true);
  });

  test("rule 5: a delete that was killed before it pruned is finished by its repetition", async () => {
    await mkdir(inBucket("a/b/c"), { recursive: true });
    await store.delete(BUCKET, "a/b/c/gone");
    expect(await readdir(inBucket(""))).toEqual([]);
  });

  test("empty directories stand in the way of nothing", async () => {
    await mkdir(inBucket("a/b/c"), { recursive: true });
    await put("a");
    expect(await text("a")).toBe("x");
    await store.delete(BUCKET, "a");
    await mkdir(inBucket("a/b/c"), { recursive: true });
    await mkdir(inBucket("a/d"), { recursive: true });
    await store.deleteBucket(BUCKET);
    expect(await store.bucketExists(BUCKET)).toBe(false);
  });

  test("two stores on one directory see each other's objects", async () => {
    const other = await openObjectStore({ kind: "file", path: root });
    const { etag } = await put("k", "shared");
    expect((await other.head(BUCKET, "k"))?.etag).toBe(etag);
    await other.delete(BUCKET, "k", { ifMatch: etag });
    expect(await store.head(BUCKET, "k")).toBeNull();
  });

  test("a file rewritten in place counts as overwritten", async () => {
    const { etag } = await put("k", "old");
    await writeFile(inBucket("k"), "new");
    await utimes(inBucket("k"), 1_700_000_000, 1_700_000_000);
    await expect(store.delete(BUCKET, "k", { ifMatch: etag })).rejects.toMatchObject({
      kind: "precondition",
    });
    expect(await text("k")).toBe("new");
  });

  test("a file cut short while it is read fails the body instead of ending it", async () => {
    await put("k", "x".repeat(2_000_000));
    const { body } = await store.get(BUCKET, "k");
    await truncate(inBucket("k"), 10);
    await expect(buffer(body)).rejects.toMatchObject({
      name: "ObjectStoreError",
      kind: "unavailable",
      message: expect.stringContaining("cut short"),
    });
  });

  const onLinux = process.platform === "linux" ? test : test.skip;
  onLinux("a body that is destroyed, unread or half read, leaves no descriptor open", async () => {
    await put("k", "x".repeat(2_000_000));
    const descriptors = async () => {
      const open = await readdir("/proc/self/fd");
      const targets = open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
      return (await Promise.all(targets)).filter((target) => target.startsWith(root)).length;
    };
    const closed: Promise<unknown>[] = [];
    for (let round = 0; round < 10; round++) {
      const { body } = await store.get(BUCKET, "k");
      closed.push(new Promise((resolve) => body.once("close", resolve)));
      if (round % 2 === 1) body.once("data", () => body.destroy());
      else body.destroy();
    }
    await Promise.all(closed);
    expect(await descriptors()).toBe(0);
  });
});

describe("attacks on the directory (rule 8)", () => {
  test("a planted link to a file is no object and leads nowhere", async () => {
    const secret = join(outside, "secret");
    await writeFile(secret, "secret");
    await symlink(secret, inBucket("link"));
    expect(await readFile(inBucket("link"), "utf8")).toBe("secret");

    expect(await store.head(BUCKET, "link")).toBeNull();
    await expect(store.get(BUCKET, "link")).rejects.toMatchObject({ kind: "not_found" });
    expect(await keys()).toEqual([]);
    await store.delete(BUCKET, "link");
    await store.delete(BUCKET, "link", { ifMatch: "any" });
    await expect(
      store.put(BUCKET, "link", Buffer.from("x"), { ifNoneMatch: "*" }),
    ).rejects.toMatchObject({ kind: "precondition" });
    expect(await readlink(inBucket("link"))).toBe(secret);

    await put("link", "object");
    expect(await text("link")).toBe("object");
    expect(await readFile(secret, "utf8")).toBe("secret");
  });

  test("a planted link to a directory is not gone through", async () => {
    await writeFile(join(outside, "secret"), "secret");
    await mkdir(join(outside, "empty"));
    await symlink(outside, inBucket("link"));
    expect(await readdir(inBucket("link"))).toEqual(["empty", "secret"]);

    expect(await store.head(BUCKET, "link/secret")).toBeNull();
    await expect(store.get(BUCKET, "link/secret")).rejects.toMatchObject({ kind: "not_found" });
    expect((await store.list(BUCKET, { prefix: "link/" })).objects).toEqual([]);
    expect(await keys()).toEqual([]);
    for (const key of ["link/new", "link/deep/new", "link"]) {
      const putting = store.put(BUCKET, key, Buffer.from("x"), { ifNoneMatch: "*" });
      await expect(putting).rejects.toMatchObject({ kind: "precondition" });
    }
    await store.delete(BUCKET, "link/secret");
    await store.delete(BUCKET, "link/secret", { ifMatch: "any" });
    await store.delete(BUCKET, "link/empty/x");
    expect(await readdir(outside)).toEqual(["empty", "secret"]);
    await expect(store.deleteBucket(BUCKET)).rejects.toMatchObject({ kind: "precondition" });
  });

  test("a link or file in the place of a bucket is no bucket", async () => {
    await writeFile(join(outside, "secret"), "secret");
    await symlink(outside, join(root, "linked"));
    await writeFile(join(root, "file"), "x");
    for (const name of ["linked", "file"]) {
      expect(await store.bucketExists(name)).toBe(false);
      await expect(store.createBucket(name)).rejects.toMatchObject({ kind: "precondition" });
      await expect(store.list(name)).rejects.toMatchObject({ kind: "not_found" });
      await expect(store.head(name, "secret")).rejects.toMatchObject({ kind: "not_found" });
      await expect(store.get(name, "secret")).rejects.toMatchObject({ kind: "not_found" });
      await expect(store.put(name, "k", Buffer.from("x"))).rejects.toMatchObject({
        kind: "not_found",
      });
      await store.deleteBucket(name);
    }
    expect(await readdir(outside)).toEqual(["secret"]);
    await access(join(root, "file"));
  });

  test("a named pipe is no object, and nothing waits for its writer", async () => {
    execFileSync("mkfifo", [inBucket("pipe")]);
    await expect(store.get(BUCKET, "pipe")).rejects.toMatchObject({ kind: "not_found" });
    expect(await store.head(BUCKET, "pipe")).toBeNull();
    expect(await keys()).toEqual([]);
  });

  test("names that are not UTF-8 break no listing", async () => {
    await put("k");
    await writeFile(Buffer.concat([Buffer.from(inBucket("bad-")), Buffer.from([0xff])]), "x");
    await mkdir(Buffer.concat([Buffer.from(inBucket("dir-")), Buffer.from([0xff])]));
    expect(await keys()).toEqual(["k"]);
  });
});

describe("a store whose directory went away", () => {
  test("says so, and never that its objects are gone (rule 1)", async () => {
    const { etag } = await put("k");
    await rm(root, { recursive: true });
    await mkdir(root);
    const calls = [
      store.head(BUCKET, "k"),
      store.get(BUCKET, "k"),
      store.list(BUCKET),
      store.put(BUCKET, "k", Buffer.from("x")),
      store.delete(BUCKET, "k"),
      store.delete(BUCKET, "k", { ifMatch: etag }),
      store.bucketExists(BUCKET),
      store.createBucket(BUCKET),
      store.deleteBucket(BUCKET),
    ];
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: "rejected", reason: { kind: "unavailable" } });
    }
    expect(await readdir(root)).toEqual([]);
  });
});
