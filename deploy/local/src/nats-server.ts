import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { Launch } from "./launch.ts";
import { natsServerBinary } from "./nats-install.ts";

/** Where a server keeps its streams and where it listens, on 127.0.0.1. */
export interface NatsOptions {
  /** An existing folder; the streams go to `nats/` in it. */
  readonly dir: string;
  readonly port: number;
  /** Where `/varz`, `/jsz`, `/healthz` are served; nowhere when absent. */
  readonly monitoringPort?: number;
  readonly report?: (line: string) => void;
}

/** A server that is ready to be run. */
export interface PreparedNats {
  readonly launch: Launch;
  readonly url: string;
}

/** Gets a nats-server with JetStream ready; installs it where needed (`natsServerBinary`). Starts nothing. */
export async function prepareNats(options: NatsOptions): Promise<PreparedNats> {
  const command = await natsServerBinary(options.report ? { report: options.report } : {});
  const store = join(options.dir, "nats");
  await mkdir(store, { recursive: true, mode: 0o700 });
  const monitoring =
    options.monitoringPort === undefined ? [] : ["-m", `${options.monitoringPort}`];
  return {
    url: `nats://127.0.0.1:${options.port}`,
    launch: {
      name: "nats",
      command,
      args: ["-a", "127.0.0.1", "-p", `${options.port}`, ...monitoring, "-js", "-sd", store],
      env: {},
      cwd: options.dir,
      isReady: () => natsAnswers(options.port),
      stop: [{ signal: "SIGTERM", waitMs: 10_000 }],
      notable: (line) => /\[(?:WRN|ERR|FTL)\] (.*)/.exec(line)?.[0],
    },
  };
}

/**
 * Whether a nats-server with JetStream answers on 127.0.0.1:`port`. It greets each connection with one
 * INFO line, and takes connections only once its streams are recovered.
 */
export function natsAnswers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let greeting = "";
    const answer = (ready: boolean) => {
      socket.destroy();
      resolve(ready);
    };
    socket.setTimeout(2_000, () => answer(false));
    socket.once("error", () => answer(false));
    socket.once("close", () => resolve(false));
    socket.setEncoding("utf8").on("data", (text: string) => {
      greeting += text;
      if (greeting.includes("\r\n")) answer(/^INFO .*"jetstream":true/.test(greeting));
    });
  });
}
