// Lets Node run the repository's TypeScript as it stands, workspace packages included:
// `node --conditions=source --import ./scripts/typescript.mjs test/bench/main.ts`.
// For benches and tools that are not built; types are checked by `npm run typecheck`.
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

/** Called by Node for each module, in its loader thread. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const { transform } = await import("@swc/core");
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, "utf8"), {
    filename,
    jsc: { parser: { syntax: "typescript" }, target: "es2022" },
    module: { type: "es6" },
    sourceMaps: "inline",
  });
  return { format: "module", source: code, shortCircuit: true };
}
