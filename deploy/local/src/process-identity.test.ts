import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "@jest/globals";
import {
  isAlive,
  processCommand,
  processIdentity,
  referTo,
  stopProcess,
} from "./process-identity.ts";

async function startNode(script: string): Promise<ReturnType<typeof spawn>> {
  const child = spawn(process.execPath, [
    "-e",
    `${script}; setInterval(() => {}, 1000); console.log("up")`,
  ]);
  await once(child.stdout, "data");
  return child;
}

describe("processIdentity", () => {
  test("stays the same while a process lives and is gone with it", async () => {
    const child = await startNode("");
    const pid = child.pid ?? 0;
    const reference = referTo(pid);
    expect(reference?.identity).toBe(processIdentity(pid));
    expect(processCommand(pid)).toContain("setInterval");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(referTo(pid)).toBeUndefined();
  });

  test("tells a process from another that has its pid", () => {
    const self = referTo(process.pid);
    expect(self && isAlive(self)).toBe(true);
    expect(isAlive({ pid: process.pid, identity: "of an earlier process" })).toBe(false);
  });

  test.each([0, -1, 1.5, Number.NaN])("knows no process %s", (pid) => {
    expect(processIdentity(pid)).toBeUndefined();
  });
});

describe("stopProcess", () => {
  test("asks first and kills what does not listen", async () => {
    const child = await startNode('process.on("SIGTERM", () => {})');
    const exited = once(child, "exit");
    const reference = referTo(child.pid ?? 0);
    if (reference) await stopProcess(reference, [{ signal: "SIGTERM", waitMs: 100 }]);
    expect(await exited).toEqual([null, "SIGKILL"]);
  });

  test("leaves alone a process that only has the pid", async () => {
    const child = await startNode("");
    await stopProcess({ pid: child.pid ?? 0, identity: "of an earlier process" }, []);
    expect(referTo(child.pid ?? 0)).toBeDefined();
    child.kill("SIGKILL");
    await once(child, "exit");
  });
});
