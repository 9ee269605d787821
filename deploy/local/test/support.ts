import { randomInt } from "node:crypto";
import { chmod, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { isPortFree, listPorts, stackPorts } from "../src/ports.ts";
import type { RestartPolicy } from "../src/supervised-process.ts";

/** Restarts at once: tests do not wait. */
export const promptly: RestartPolicy = {
  firstDelayMs: 20,
  maxDelayMs: 200,
  settledAfterMs: 10_000,
  readyWithinMs: 30_000,
  triesToFirstReady: 3,
};

/** A new folder that every user may pass through, as `make up` makes it. */
export async function makeFolder(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "lapse-local-")));
  await chmod(dir, 0o711);
  return dir;
}

/** An offset at which every port of a stack is free. */
export async function freeOffset(): Promise<number> {
  for (;;) {
    const offset = randomInt(2_000, 20_000);
    const ports = listPorts(stackPorts(offset));
    const free = await Promise.all(ports.map(({ port }) => isPortFree(port)));
    if (free.every(Boolean)) return offset;
  }
}

/** A port on which nothing listens, below those that systems give to outgoing connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isPortFree(port)) return port;
  }
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
