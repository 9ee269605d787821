import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { prepareNats } from "../src/nats-server.ts";
import { Supervisor } from "../src/supervisor.ts";
import { until } from "../src/until.ts";
import { freePort, makeFolder, promptly } from "./support.ts";

let dir: string;
let supervisor: Supervisor;
beforeEach(async () => {
  dir = await makeFolder();
  supervisor = new Supervisor({ dir, report: () => {}, policy: promptly });
});
afterEach(async () => {
  await supervisor.stop();
  await rm(dir, { recursive: true });
});

async function monitor(port: number, page: string): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}/${page}`);
  return (await response.json()) as Record<string, unknown>;
}

test("nats-server listens on the loopback alone, with JetStream in the data folder", async () => {
  const [port, monitoringPort] = [await freePort(), await freePort()];
  const { launch } = await prepareNats({ dir, port, monitoringPort });
  await supervisor.start(launch);
  expect(await monitor(monitoringPort, "varz")).toMatchObject({ host: "127.0.0.1", port });
  const { config } = await monitor(monitoringPort, "jsz");
  expect(config).toMatchObject({ store_dir: join(dir, "nats", "jetstream") });
  expect(await monitor(monitoringPort, "healthz")).toEqual({ status: "ok" });
});

test("nats-server is there again after a SIGKILL, and stops in good order", async () => {
  const port = await freePort();
  const { launch } = await prepareNats({ dir, port });
  await supervisor.start(launch);
  const killed = supervisor.pids.nats ?? 0;
  process.kill(killed, "SIGKILL");
  await until(() => supervisor.pids.nats !== undefined && supervisor.pids.nats !== killed, {
    timeoutMs: 10_000,
  });
  expect(await until(launch.isReady, { timeoutMs: 10_000 })).toBe(true);
  await supervisor.stop();
  expect(await launch.isReady()).toBe(false);
  expect(await readFile(join(dir, "logs", "nats.log"), "utf8")).toMatch(/Server Exiting/i);
});
