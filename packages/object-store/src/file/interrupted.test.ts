import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ObjectStore } from "../object-store.ts";
import { openObjectStore } from "../open.ts";
import { makeClaim, takeOverClaim } from "./claim.ts";
import { claimName } from "./segment-names.ts";

jest.setTimeout(60_000);

const BUCKET = "acme--lake";
let root: string;
let store: ObjectStore;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "lapse-interrupted-")));
  store = await openObjectStore({ kind: "file", path: root });
  await store.createBucket(BUCKET);
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

const uploads = () => readdir(join(root, ".lapse-uploads"));
const inBucket = (path: string) => join(root, BUCKET, path);
const keys = async () => (await store.list(BUCKET)).objects.map((object) => object.key);
const text = async (key: string) => {
  const { body } = await store.get(BUCKET, key);
  return (await buffer(body)).toString();
};

describe("a put that ended before its rename (rule 5)", () => {
  const upload = () => join(root, ".lapse-uploads", "0192c7d8-6f0e-7b1c-9d3e-2a4f5b6c7d8e");

  test("leaves nothing that a reader sees", async () => {
    await writeFile(upload(), "half");
    expect(await keys()).toEqual([]);
    expect(await store.bucketExists(BUCKET)).toBe(true);
    await store.deleteBucket(BUCKET);
  });

  test("is swept by the next start a day later, and not before", async () => {
    await writeFile(upload(), "half");
    await openObjectStore({ kind: "file", path: root });
    expect(await uploads()).toHaveLength(1);
    const yesterday = Date.now() / 1000 - 24 * 3600 - 60;
    await utimes(upload(), yesterday, yesterday);
    await openObjectStore({ kind: "file", path: root });
    expect(await uploads()).toEqual([]);
  });

  test("one that fails cleans up itself", async () => {
    const body = Readable.from([Buffer.alloc(100_000), 7]);
    await expect(store.put(BUCKET, "k", body)).rejects.toThrow("bytes or strings");
    const taken = store.put(BUCKET, "k", Buffer.from("x"));
    await taken;
    await expect(
      store.put(BUCKET, "k", Buffer.from("y"), { ifNoneMatch: "*" }),
    ).rejects.toMatchObject({ kind: "precondition" });
    expect(await uploads()).toEqual([]);
    expect((await lstat(inBucket("k"))).nlink).toBe(1);
  });

  test("one that was killed between link and clean-up has stored its object", async () => {
    await writeFile(upload(), "whole");
    await link(upload(), inBucket("k"));
    expect(await text("k")).toBe("whole");
    await store.delete(BUCKET, "k");
    expect(await keys()).toEqual([]);
  });
});

describe("a conditional delete that was killed in its claim (rule 5)", () => {
  /** As `deleteVersion` leaves it: the file of `a/k` moved into a claim on the version `etag`. */
  async function claimed(etag: string): Promise<string> {
    const claim = inBucket(`a/${claimName(etag, "00000000")}`);
    await mkdir(claim);
    await rename(inBucket("a/k"), join(claim, "k"));
    return claim;
  }
  const put = async (body: string) => (await store.put(BUCKET, "a/k", Buffer.from(body))).etag;

  test("the version that was to be deleted is deleted by the next listing", async () => {
    await claimed(await put("old"));
    expect(await store.head(BUCKET, "a/k")).toBeNull();
    expect(await keys()).toEqual([]);
    expect(await readdir(inBucket("a"))).toEqual([]);
    await store.deleteBucket(BUCKET);
  });

  test("F15 a newer version that was caught is put back, the same version as before", async () => {
    const old = await put("old");
    const current = await put("new");
    await claimed(old);
    expect((await store.list(BUCKET)).objects).toMatchObject([{ key: "a/k", etag: current }]);
    expect(await text("a/k")).toBe("new");
    expect(await readdir(inBucket("a"))).toEqual(["k"]);
  });

  test("a newer version that was caught gives way to one that was put since", async () => {
    const old = await put("old");
    await put("new");
    await claimed(old);
    await put("newest");
    expect(await keys()).toEqual(["a/k"]);
    expect(await text("a/k")).toBe("newest");
    expect(await readdir(inBucket("a"))).toEqual(["k"]);
  });

  test("of two that settle one claim at once, one does", async () => {
    const old = await put("old");
    await put("new");
    const claim = await claimed(old);
    const outcomes = await Promise.all([takeOverClaim(claim), takeOverClaim(claim)]);
    expect(outcomes.sort()).toEqual(["nothing", "put back"]);
    expect(await text("a/k")).toBe("new");
    expect(await readdir(inBucket("a"))).toEqual(["k"]);
  });

  test("a claim that was being made is removed, and the late move into it fails", async () => {
    const etag = await put("kept");
    const claim = inBucket(`a/${claimName(etag, "00000000")}`);
    await mkdir(claim);
    await symlink("claimed", join(claim, "k"));
    expect(await keys()).toEqual(["a/k"]);
    await expect(rename(inBucket("a/k"), join(claim, "k"))).rejects.toMatchObject({
      code: "ENOENT",
    });
    expect(await readdir(inBucket("a"))).toEqual(["k"]);
  });

  test("a directory that took the object's place is not moved into a claim", async () => {
    const etag = await put("old");
    await store.delete(BUCKET, "a/k");
    await store.put(BUCKET, "a/k/under", Buffer.from("kept"));
    const claim = await makeClaim(inBucket("a/k"), etag);
    expect(await text("a/k/under")).toBe("kept");
    expect(await takeOverClaim(claim)).toBe("nothing");
    expect(await keys()).toEqual(["a/k/under"]);
  });

  test("listings that settle claims being made take nothing from the deletes that make them", async () => {
    const names = Array.from({ length: 60 }, (_, index) => `a/${index}`);
    const etags = new Map<string, string>();
    for (const key of names) {
      etags.set(key, (await store.put(BUCKET, key, Buffer.from("x"))).etag);
    }
    const deletes = names.map(async (key) => {
      await store.delete(BUCKET, key, { ifMatch: etags.get(key) ?? "" });
      expect(await store.head(BUCKET, key)).toBeNull();
    });
    const listings = Array.from({ length: 30 }, () => keys());
    await Promise.all([...deletes, ...listings]);
    expect(await keys()).toEqual([]);
    await store.deleteBucket(BUCKET);
  });
});
