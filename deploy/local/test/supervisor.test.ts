import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Launch } from "../src/launch.ts";
import { readLivingPids, stopOrphans, writePids } from "../src/pid-file.ts";
import { isAlive, processIdentity } from "../src/process-identity.ts";
import { notableServiceLine } from "../src/service-lines.ts";
import { Supervisor } from "../src/supervisor.ts";
import { until } from "../src/until.ts";
import { makeFolder, promptly } from "./support.ts";

let dir: string;
let supervisor: Supervisor;
const reported: string[] = [];

beforeEach(async () => {
  dir = await makeFolder();
  reported.length = 0;
  supervisor = new Supervisor({ dir, report: (line) => reported.push(line), policy: promptly });
});
afterEach(async () => {
  await supervisor.stop();
  await rm(dir, { recursive: true });
});

/** A process that runs `script`, says so in its log, and is ready once its log says "up". */
function launch(name: string, script: string, changes: Partial<Launch> = {}): Launch {
  return {
    name,
    command: process.execPath,
    args: ["-e", `${script}; console.log("up " + process.pid); setInterval(() => {}, 1000);`],
    env: {},
    cwd: dir,
    isReady: async () => (await readLog(name)).includes(`up ${supervisor.pids[name]}\n`),
    stop: [{ signal: "SIGTERM", waitMs: 5_000 }],
    notable: (line) => (line.startsWith("up") ? undefined : notableServiceLine(line)),
    ...changes,
  };
}

async function readLog(name: string): Promise<string> {
  return readFile(join(dir, "logs", `${name}.log`), "utf8");
}

async function untilTrue(condition: () => boolean): Promise<void> {
  expect(await until(condition, { timeoutMs: 10_000 })).toBe(true);
}

describe("a supervised process", () => {
  test("is started again after a SIGKILL, and its pid is recorded anew", async () => {
    await supervisor.start(launch("service", ""));
    const before = supervisor.pids.service ?? 0;
    process.kill(before, "SIGKILL");
    await untilTrue(() => reported.some((line) => line.startsWith("service is back")));
    const after = supervisor.pids.service;
    expect(after).not.toBe(before);
    expect(readLivingPids(join(dir, "pids.json")).service?.pid).toBe(after);
    expect(reported[0]).toBe("service ended (SIGKILL); it is started again in 0.02 s");
  });

  test("is given up when it ends again and again before it was ready, with its last words", async () => {
    const starting = supervisor.start(
      launch("service", 'console.log("bad config"); process.exit(7)'),
    );
    await expect(starting).rejects.toThrow(/ended 3 times.*exit code 7.*\n.*bad config/s);
  });

  test("is given up when it does not get ready in time", async () => {
    const hasty = { ...promptly, readyWithinMs: 50 };
    const other = new Supervisor({ dir, report: () => {}, policy: hasty });
    const starting = other.start(launch("service", "", { isReady: async () => false }));
    await expect(starting).rejects.toThrow("is not ready after 0.05 s");
    await other.stop();
  });

  test("that cannot be started at all says why", async () => {
    const starting = supervisor.start(launch("service", "", { command: "/nonexistent/program" }));
    await expect(starting).rejects.toThrow("ENOENT");
  });

  test("has everything in its log, and only what matters on the terminal", async () => {
    const lines = [
      { level: 30, msg: "routine" },
      { level: 40, msg: "look" },
      { level: 40, msg: "look" },
    ];
    const script = lines.map((line) => `console.log(${JSON.stringify(JSON.stringify(line))})`);
    await supervisor.start(launch("service", script.join(";")));
    await supervisor.stop();
    expect(reported).toEqual(["service: warning: look"]);
    expect((await readLog("service")).split("\n")).toHaveLength(5);
  });
});

describe("stopping", () => {
  test("goes in the reverse of the order of starting, each awaited before the next", async () => {
    const note = (name: string) =>
      `process.on("SIGTERM", () => { require("node:fs").appendFileSync("order", "${name} "); process.exit() })`;
    for (const name of ["first", "second", "third"])
      await supervisor.start(launch(name, note(name)));
    await supervisor.stop();
    expect(await readFile(join(dir, "order"), "utf8")).toBe("third second first ");
    expect(supervisor.pids).toEqual({});
  });

  test("kills what does not listen once its time is up", async () => {
    const deaf = launch("deaf", 'process.on("SIGTERM", () => {})', {
      stop: [{ signal: "SIGTERM", waitMs: 100 }],
    });
    await supervisor.start(deaf);
    const recorded = readLivingPids(join(dir, "pids.json")).deaf;
    await supervisor.stop();
    expect(recorded && isAlive(recorded)).toBe(false);
  });

  test("by force ends at once what would not listen, and what that started", async () => {
    const family = `process.on("SIGTERM", () => {});
      const child = require("node:child_process").spawn("sleep", ["1000"]);
      require("node:fs").writeFileSync("child", String(child.pid))`;
    await supervisor.start(launch("deaf", family));
    const child = Number(await readFile(join(dir, "child"), "utf8"));
    const parent = readLivingPids(join(dir, "pids.json")).deaf;
    supervisor.signal(true);
    await untilTrue(() => !(parent && isAlive(parent)) && processIdentity(child) === undefined);
  });

  test("while a process is still starting makes that start fail", async () => {
    const starting = supervisor.start(launch("service", "", { isReady: async () => false }));
    const failed = expect(starting).rejects.toThrow("was stopped before it was ready");
    await supervisor.stop();
    await failed;
  });

  test("while a process waits for its next start keeps it from starting", async () => {
    const patient = { ...promptly, firstDelayMs: 60_000 };
    const other = new Supervisor({ dir, report: () => {}, policy: patient });
    const member = launch("service", "", {
      isReady: async () => (await readLog("service")).includes("up"),
    });
    await other.start(member);
    process.kill(other.pids.service ?? 0, "SIGKILL");
    await untilTrue(() => other.pids.service === undefined);
    await other.stop();
    expect(other.pids).toEqual({});
  });
});

describe("stopOrphans", () => {
  test("stops what is recorded and still runs, and nothing that merely has the pid", async () => {
    await supervisor.start(launch("service", ""));
    const recorded = readLivingPids(join(dir, "pids.json")).service;
    const stranger = { pid: process.pid, identity: "of an earlier process" };
    const file = join(dir, "left.json");
    if (recorded) writePids(file, { service: recorded, stranger });
    expect(await stopOrphans(file)).toEqual(["service"]);
  });

  test("has nothing to do without a record", async () => {
    expect(await stopOrphans(join(dir, "absent.json"))).toEqual([]);
  });
});
