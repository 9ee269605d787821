import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Pids, readLivingPids } from "../src/pid-file.ts";
import { isAlive, referTo, stopProcess } from "../src/process-identity.ts";
import { runCommand } from "../src/run-command.ts";
import { until } from "../src/until.ts";
import { freeOffset, makeFolder } from "./support.ts";

// These tests end the process that runs the stack, so it is one of its own, of built code.
const repository = join(import.meta.dirname, "..", "..", "..");
const script = fileURLToPath(new URL("./fixtures/run-stack.mjs", import.meta.url));

let dir: string;
let portOffset: number;
let output = "";

beforeAll(async () => {
  const built = await runCommand("npx", ["tsc", "-b", "deploy/local"], { cwd: repository });
  expect(built).toMatchObject({ code: 0 });
}, 120_000);

beforeEach(async () => {
  dir = await makeFolder();
  portOffset = await freeOffset();
});
afterEach(async () => {
  const { supervisor, ...rest } = readLivingPids(join(dir, "pids.json"));
  if (supervisor) await stopProcess(supervisor, [{ signal: "SIGTERM", waitMs: 20_000 }]);
  for (const left of Object.values(rest))
    await stopProcess(left, [{ signal: "SIGINT", waitMs: 5_000 }]);
  await rm(dir, { recursive: true });
});

type Foreground = ChildProcessByStdio<null, Readable, null>;

function start(changes: NodeJS.ProcessEnv = {}): Foreground {
  output = "";
  const child = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      LAPSE_LOCAL__DIR: dir,
      LAPSE_LOCAL__PORT_OFFSET: String(portOffset),
      ...changes,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return child;
}

async function untilPrinted(line: string): Promise<void> {
  const printed = () => output.split("\n").includes(line);
  const inTime = await until(printed, { timeoutMs: 30_000 });
  expect(inTime ? line : output).toBe(line);
}

function living(): Pids {
  return readLivingPids(join(dir, "pids.json"));
}

const names = ["audit", "catalog", "gateway", "nats", "postgres", "supervisor"];

describe("a stack in the foreground", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "prints ready, and ends all of it and itself on %s",
    async (signal) => {
      const child = start();
      await untilPrinted("ready");
      const running = living();
      expect(Object.keys(running).sort()).toEqual(names);
      const exited = once(child, "exit");
      child.kill(signal);
      expect(await exited).toEqual([0, null]);
      expect(Object.values(running).filter(isAlive)).toEqual([]);
      expect(await readFile(join(dir, "logs", "postgres.log"), "utf8")).toContain("is shut down");
    },
  );

  test("keeps its processes out of reach of a Ctrl-C on the terminal", async () => {
    const child = start();
    await untilPrinted("ready");
    const groups = Object.entries(living()).filter(([name]) => name !== "supervisor");
    for (const [, { pid }] of groups) expect(await groupOf(pid)).toBe(pid);
    const exited = once(child, "exit");
    child.kill("SIGINT");
    await exited;
  });

  test("ends all of it at once on a second signal, whatever does not listen", async () => {
    const child = start({ IGNORE_SIGTERM: "1" });
    await untilPrinted("ready");
    const running = living();
    const exited = once(child, "exit");
    child.kill("SIGINT");
    await untilPrinted("stopping (once more to stop at once)");
    child.kill("SIGINT");
    expect(await exited).toEqual([130, null]);
    const gone = () => Object.values(running).every((process) => !isAlive(process));
    expect(await until(gone, { timeoutMs: 5_000 })).toBe(true);
  });

  test("is started again over the orphans of one that was killed", async () => {
    const killed = start();
    await untilPrinted("ready");
    const orphans = living();
    const exited = once(killed, "exit");
    killed.kill("SIGKILL");
    await exited;
    expect(Object.keys(living()).sort()).toEqual(names.filter((name) => name !== "supervisor"));

    const child = start();
    await untilPrinted("ready");
    expect(output).toContain("stopped what the last stack left running: ");
    expect(Object.values(orphans).filter(isAlive)).toEqual([]);
    const self = referTo(child.pid ?? 0);
    expect(living().supervisor).toEqual(self);
  });
});

async function groupOf(pid: number): Promise<number> {
  return Number((await runCommand("ps", ["-o", "pgid=", "-p", String(pid)])).stdout);
}
