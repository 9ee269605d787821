import { once } from "node:events";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stackPorts } from "../src/ports.ts";
import { processIdentity } from "../src/process-identity.ts";
import type { ServiceDefinition } from "../src/services.ts";
import { LocalStack, type StackAccess, type StackOptions } from "../src/stack.ts";
import { until } from "../src/until.ts";
import { freeOffset, makeFolder, promptly, query } from "./support.ts";

const main = fileURLToPath(new URL("./fixtures/service.mjs", import.meta.url));
const services: readonly ServiceDefinition[] = [
  { name: "catalog", main, database: "lapse_catalog" },
  { name: "audit", main, database: "lapse_audit" },
  { name: "gateway", main },
];

let dir: string;
let portOffset: number;
let stack: LocalStack;
let access: StackAccess;
const reported: string[] = [];

function options(changes: Partial<StackOptions> = {}): StackOptions {
  const env = { PATH: process.env.PATH, LAPSE_TABLES__UNDO_DAYS: "3" };
  const report = (line: string) => reported.push(line);
  return { settings: { dir, portOffset }, env, report, services, policy: promptly, ...changes };
}

beforeAll(async () => {
  dir = await makeFolder();
  portOffset = await freeOffset();
  stack = new LocalStack(options());
  access = await stack.start();
});
afterAll(async () => {
  await stack.stop();
  await rm(dir, { recursive: true });
});

/** What the service of that name was started with. */
async function settingsOf(name: "catalog" | "audit" | "gateway"): Promise<Record<string, string>> {
  const port = stackPorts(portOffset).operations[name];
  const response = await fetch(`http://127.0.0.1:${port}/settings`);
  return (await response.json()) as Record<string, string>;
}

describe("a running stack", () => {
  test("has told each service its database, the streams, and what was given", async () => {
    const catalog = await settingsOf("catalog");
    const rows = await query(
      catalog.LAPSE_DATABASE__URL ?? "",
      "SELECT current_database() AS name",
    );
    expect(rows).toEqual([{ name: "lapse_catalog" }]);
    expect(catalog.LAPSE_NATS__URL).toBe(`nats://127.0.0.1:${stackPorts(portOffset).nats}`);
    expect(catalog.LAPSE_TABLES__UNDO_DAYS).toBe("3");
    expect(await settingsOf("gateway")).not.toHaveProperty("LAPSE_DATABASE__URL");
  });

  test("leaves the CLI its URL, token and object store in a file that only its owner reads", async () => {
    expect((await stat(access.cliFile)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(access.cliFile, "utf8"))).toEqual({
      url: `http://127.0.0.1:${8080 + portOffset}`,
      token: access.adminToken,
      natsUrl: access.natsUrl,
      objectStore: { kind: "file", path: join(dir, "objects") },
    });
  });

  test.each(["catalog", "gateway", "nats", "postgres"])(
    "has %s back after a SIGKILL by the pid in pids.json",
    async (name) => {
      const pids = JSON.parse(await readFile(join(dir, "pids.json"), "utf8"));
      const killed = pids[name].pid as number;
      process.kill(killed, "SIGKILL");
      const back = () =>
        reported.some((line) => line === `${name} is back (pid ${stack.pids[name]})`);
      expect(await until(back, { timeoutMs: 20_000 })).toBe(true);
      expect(stack.pids[name]).not.toBe(killed);
    },
  );

  test("is the only one of its folder", async () => {
    const second = new LocalStack(options({ settings: { dir, portOffset: await freeOffset() } }));
    await expect(second.start()).rejects.toThrow(
      `A stack already runs from ${dir} (pid ${process.pid})`,
    );
    expect(Object.keys(stack.pids)).toHaveLength(5);
  });

  test("keeps another one from its ports before that has started anything", async () => {
    const other = await makeFolder();
    const second = new LocalStack(options({ settings: { dir: other, portOffset } }));
    await expect(second.start()).rejects.toThrow(
      /in use: .*\(gateway operations; .*\(PostgreSQL; .*\(NATS; /,
    );
    expect(second.pids).toEqual({});
    await rm(other, { recursive: true });
  });
});

describe("a stack that does not come up", () => {
  test("leaves nothing running, and says whose fault it was", async () => {
    const other = await makeFolder();
    const broken = join(other, "broken.mjs");
    const settings = { dir: other, portOffset: await freeOffset() };
    const failing = new LocalStack(
      options({ settings, services: [...services, { name: "lifecycle-evaluator", main: broken }] }),
    );
    await expect(failing.start()).rejects.toThrow(`Not built: ${broken}. Run \`make build\``);

    await writeFile(broken, 'console.error("no such setting"); process.exit(1);');
    const again = new LocalStack(
      options({ settings, services: [...services, { name: "lifecycle-evaluator", main: broken }] }),
    );
    await expect(again.start()).rejects.toThrow(
      /lifecycle-evaluator ended 3 times.*no such setting/s,
    );
    expect(again.pids).toEqual({});
    await rm(other, { recursive: true });
  });

  test("says so where its folder cannot be one", async () => {
    const file = join(dir, "cli.json");
    const failing = new LocalStack(options({ settings: { dir: join(file, "in"), portOffset } }));
    await expect(failing.start()).rejects.toThrow(/cannot be used.*LAPSE_LOCAL__DIR/);
  });

  test("can be stopped in the middle of its start", async () => {
    const other = await makeFolder();
    const settings = { dir: other, portOffset: await freeOffset() };
    const early = new LocalStack(options({ settings }));
    const starting = early.start();
    const failed = expect(starting).rejects.toThrow(/before it was ready/);
    await until(() => early.pids.postgres !== undefined, { timeoutMs: 20_000 });
    await early.stop();
    await failed;
    expect(early.pids).toEqual({});
    await rm(other, { recursive: true });
  });
});

test("a stack keeps its data and its keys over a stop and a start", async () => {
  const before = await settingsOf("catalog");
  await query(before.LAPSE_DATABASE__URL ?? "", "CREATE TABLE kept AS SELECT 1 AS id");
  const pids = Object.values(stack.pids);
  await stack.stop();
  expect(pids.map(processIdentity)).toEqual(pids.map(() => undefined));

  // What took its port meanwhile is found before anything is started.
  const squatter = createServer();
  await once(squatter.listen(stackPorts(portOffset).rest, "127.0.0.1"), "listening");
  stack = new LocalStack(options());
  await expect(stack.start()).rejects.toThrow("LAPSE_LOCAL__PORT_OFFSET");
  await once(squatter.close(), "close");

  stack = new LocalStack(options());
  await stack.start();
  const after = await settingsOf("catalog");
  expect(await query(after.LAPSE_DATABASE__URL ?? "", "SELECT id FROM kept")).toEqual([{ id: 1 }]);
});
