// churn PATH: puts and deletes for ever, telling each step before (`?`) and after (`!`) it is done,
// as lines of `sign key number`; number 0 is a delete.
import { writeSync } from "node:fs";
import { Readable } from "node:stream";
import { openObjectStore } from "../../src/index.ts";

const BUCKET = "acme--lake";
const store = await openObjectStore({ kind: "file", path: process.argv[2] ?? "" });
await store.createBucket(BUCKET);

for (let number = 1; ; number++) {
  const key = `dev/t${number % 3}/d${number % 5}/x`;
  const deletes = number % 4 === 0;
  const step = `${key} ${deletes ? 0 : number}\n`;
  writeSync(1, `? ${step}`);
  if (!deletes) {
    const half = Buffer.from(`${number};`.repeat(20_000));
    await store.put(BUCKET, key, number % 2 === 0 ? Readable.from([half, half]) : half);
  } else {
    const stat = await store.head(BUCKET, key);
    await store.delete(BUCKET, key, stat === null ? {} : { ifMatch: stat.etag });
  }
  writeSync(1, `! ${step}`);
}
