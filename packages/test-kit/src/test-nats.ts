import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  isAlive,
  natsAnswers,
  type ProcessReference,
  prepareNats,
  stopProcess,
  takeLock,
  until,
} from "@lapse/local";
import { connect } from "nats";
import { controlContainer, hasImage, startContainer } from "./containers.ts";
import { freePort } from "./free-port.ts";
import { onceInRun } from "./once-in-run.ts";
import { runDirectory } from "./run-directory.ts";
import { forgetServerProcess, startServerProcess } from "./server-process.ts";

/** A nats-server with JetStream, empty at first and of one test file alone. */
export interface TestNats {
  readonly url: string;
  /** Stops it in good order; streams and consumers are kept. */
  readonly stop: () => Promise<void>;
  /** SIGKILL; what was stored is kept. */
  readonly kill: () => Promise<void>;
  /** Starts it again, at the same URL over the same streams. */
  readonly start: () => Promise<void>;
  /** The end of its use. */
  readonly close: () => Promise<void>;
}

const image = "nats:2";

/**
 * A server for this test file: a process of its own, or a container where an engine answers and has the
 * image. Where `TEST_NATS_URL` names one, test files take turns with it, each finds it without
 * streams, and it cannot be stopped.
 */
export async function testNats(): Promise<TestNats> {
  const given = process.env.TEST_NATS_URL;
  if (given) return shareServer(given);
  return (await onceInRun("nats-image", () => hasImage(image)))
    ? startInContainer()
    : startAsProcess();
}

async function startAsProcess(): Promise<TestNats> {
  const dir = join(runDirectory(), `nats-${randomUUID().slice(0, 8)}`);
  await mkdir(dir);
  const port = await freePort();
  // Under the run's lock, as this may have to install it.
  await onceInRun("nats-server", async () => (await prepareNats({ dir, port })).launch.command);
  const { launch, url } = await prepareNats({ dir, port });
  let running: ProcessReference | undefined;
  const start = async () => {
    if (running === undefined || !isAlive(running)) running = await startServerProcess(launch);
  };
  const end = async (steps: typeof launch.stop) => {
    if (running === undefined) return;
    await stopProcess(running, steps);
    await forgetServerProcess(running);
    running = undefined;
  };
  await start();
  const kill = () => end([]);
  return { url, start, stop: () => end(launch.stop), kill, close: kill };
}

async function startInContainer(): Promise<TestNats> {
  const { id, hostPort } = await startContainer({ image, port: 4222, command: ["-js"] });
  const awaitReady = async () => {
    if (!(await until(() => natsAnswers(hostPort), { timeoutMs: 30_000 }))) {
      throw new Error(`NATS in a container of ${image} does not answer on port ${hostPort}`);
    }
  };
  await awaitReady();
  const stop = () => controlContainer(id, "stop");
  const kill = () => controlContainer(id, "kill");
  const start = async () => {
    await controlContainer(id, "start");
    await awaitReady();
  };
  return { url: `nats://127.0.0.1:${hostPort}`, stop, kill, start, close: kill };
}

async function shareServer(url: string): Promise<TestNats> {
  const lockFile = join(runDirectory(), "nats.lock");
  const turn = await until(
    () => {
      const attempt = takeLock(lockFile);
      return attempt.kind === "taken" && attempt;
    },
    { timeoutMs: 600_000 },
  );
  if (turn === undefined) throw new Error(`no turn with the NATS at ${url} within ten minutes`);
  await removeStreams(url);
  const refuse = () =>
    Promise.reject(
      new Error("the server at TEST_NATS_URL is not ours to stop: unset it for this test"),
    );
  const close = () => Promise.resolve(turn.release());
  return { url, stop: refuse, kill: refuse, start: refuse, close };
}

async function removeStreams(url: string): Promise<void> {
  const connection = await connect({ servers: url });
  try {
    const manager = await connection.jetstreamManager();
    for await (const { config } of manager.streams.list())
      await manager.streams.delete(config.name);
  } finally {
    await connection.close();
  }
}
