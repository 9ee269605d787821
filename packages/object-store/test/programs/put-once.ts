// put-once PATH BYTES [UID]: stores so many bytes, as that user, and tells the outcome as JSON.
import { Readable } from "node:stream";
import { openObjectStore } from "../../src/index.ts";

const [path = "", bytes = "0", uid] = process.argv.slice(2);
if (uid !== undefined) process.setuid?.(Number(uid));

async function* body() {
  const chunk = Buffer.alloc(16_384, "x");
  for (let sent = 0; sent < Number(bytes); sent += chunk.length) yield chunk;
}

async function run() {
  const store = await openObjectStore({ kind: "file", path });
  await store.createBucket("acme--lake");
  await store.put("acme--lake", "small", Buffer.from("fits"));
  const failure = await store.put("acme--lake", "large", Readable.from(body())).then(
    () => null,
    (error: unknown) => error,
  );
  await store.put("acme--lake", "after", Buffer.from("fits again"));
  const { objects } = await store.list("acme--lake");
  return { failure: told(failure), keys: objects.map((object) => object.key) };
}

function told(error: unknown) {
  if (!(error instanceof Error)) return null;
  return { name: error.name, message: error.message, kind: "kind" in error ? error.kind : null };
}

const outcome = await run().catch((error: unknown) => ({ failure: told(error), keys: [] }));
process.stdout.write(JSON.stringify(outcome));
