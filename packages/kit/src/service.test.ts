import { EventEmitter } from "node:events";
import { describe, expect, jest, test } from "@jest/globals";
import { type RunServiceOptions, runService, type ServiceContext } from "./service.ts";
import { loadSettings, type Settings } from "./settings/load.ts";
import { stoppable } from "./stoppable.ts";

/** Stands in for the process: signals are sent to it, and it notes its exits. */
function fakeHost() {
  const events = new EventEmitter();
  const exits: number[] = [];
  let exited = () => {};
  const exit = new Promise<void>((resolve) => {
    exited = resolve;
  });
  return {
    exits,
    /** Resolves at the first exit. */
    exit,
    send: (event: string, argument: unknown = event) => events.emit(event, argument),
    host: {
      on: (event: string, listener: (argument: unknown) => void) => events.on(event, listener),
      exit: (code: number) => {
        exits.push(code);
        exited();
      },
    },
  };
}

const settings = loadSettings({ LAPSE_LOG__LEVEL: "silent" });

async function run(
  start: (service: ServiceContext<Settings>) => Promise<void>,
  more: Partial<RunServiceOptions<Settings>> = {},
) {
  const host = fakeHost();
  await runService({ name: "catalog", settings, start, ...more }, host.host);
  return host;
}

describe("runService", () => {
  test("gives a service its settings, log and metrics, and stays up", async () => {
    const start = jest.fn(async (service: ServiceContext<Settings>) => {
      expect(service.settings).toBe(settings);
      expect(service.signal.aborted).toBe(false);
      expect(await service.metrics.registry.metrics()).toContain('service="catalog"');
      service.log.info("started");
    });
    const { exits } = await run(start);
    expect(start).toHaveBeenCalledTimes(1);
    expect(exits).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT"])(
    "stops at %s in reverse order, one after the other, and exits with 0",
    async (signal) => {
      const order: string[] = [];
      const host = await run(async ({ onStop }) => {
        for (const name of ["pool", "relay", "server"]) {
          onStop(name, async () => {
            order.push(`${name} stopping`);
            await new Promise((resolve) => setImmediate(resolve));
            order.push(`${name} stopped`);
          });
        }
      });
      host.send(signal);
      await host.exit;
      expect(order).toEqual([
        "server stopping",
        "server stopped",
        "relay stopping",
        "relay stopped",
        "pool stopping",
        "pool stopped",
      ]);
      expect(host.exits).toEqual([0]);
    },
  );

  test("aborts its signal first when it is to stop", async () => {
    let aborted: boolean | undefined;
    const host = await run(async ({ onStop, signal }) => {
      onStop("loop", async () => {
        aborted = signal.aborted;
      });
    });
    host.send("SIGTERM");
    await host.exit;
    expect(aborted).toBe(true);
  });

  test("a part that fails to stop does not keep the others from stopping", async () => {
    let poolEnded = false;
    const host = await run(async ({ onStop }) => {
      onStop("pool", async () => {
        poolEnded = true;
      });
      onStop("relay", () => {
        throw new Error("at once");
      });
      onStop("server", () => Promise.reject(new Error("later")));
    });
    host.send("SIGTERM");
    await host.exit;
    expect(poolEnded).toBe(true);
    expect(host.exits).toEqual([0]);
  });

  test("a part that does not stop in time ends the process with 1", async () => {
    const never = ({ onStop }: ServiceContext<Settings>) => {
      onStop("server", () => new Promise(() => {}));
      return Promise.resolve();
    };
    const host = await run(never, { stopWithinMs: 20 });
    host.send("SIGTERM");
    await host.exit;
    expect(host.exits).toEqual([1]);
  });

  test("a second signal ends the process with 1 at once", async () => {
    const host = await run(async ({ onStop }) => {
      onStop("server", () => new Promise(() => {}));
    });
    host.send("SIGTERM");
    expect(host.exits).toEqual([]);
    host.send("SIGINT");
    expect(host.exits).toEqual([1]);
  });

  test("a start that fails stops what it had started, and exits with 1", async () => {
    let poolEnded = false;
    const host = await run(async ({ onStop }) => {
      onStop("pool", async () => {
        poolEnded = true;
      });
      throw new Error("the port is taken");
    });
    await host.exit;
    expect(poolEnded).toBe(true);
    expect(host.exits).toEqual([1]);
  });

  test("settings that are not allowed end the process with 1 before anything is started", async () => {
    const start = jest.fn(async () => {});
    const host = await run(start, {
      settings: () => loadSettings({ LAPSE_ENV: "prod", LAPSE_LOG__LEVEL: "silent" }),
    });
    await host.exit;
    expect(host.exits).toEqual([1]);
    expect(start).not.toHaveBeenCalled();
  });

  test("a signal during the start stops what was started, and what the start then does is no fault", async () => {
    let poolEnded = false;
    const host = fakeHost();
    const started = runService(
      {
        name: "catalog",
        settings,
        start: async ({ onStop, signal }) => {
          onStop("pool", async () => {
            poolEnded = true;
          });
          await new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
            host.send("SIGTERM");
          });
        },
      },
      host.host,
    );
    await Promise.all([started, host.exit]);
    expect(poolEnded).toBe(true);
    expect(host.exits).toEqual([0]);
  });

  test("a service that cannot go on stops in order and exits with 1", async () => {
    const order: string[] = [];
    const host = await run(async ({ onStop, fail }) => {
      onStop("pool", async () => void order.push("pool"));
      onStop("server", async () => void order.push("server"));
      fail(new Error("the stream is gone"));
      fail(new Error("said twice"));
    });
    await host.exit;
    expect(order).toEqual(["server", "pool"]);
    expect(host.exits).toEqual([1]);
  });

  test.each(["unhandledRejection", "uncaughtException"])(
    "an %s ends the process with 1 at once",
    async (event) => {
      const host = await run(async () => {});
      host.send(event, new Error("nobody caught it"));
      expect(host.exits).toEqual([1]);
    },
  );
});

test("a stoppable ends once, and everyone who stops it waits for that", async () => {
  let ends = 0;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const running = stoppable(() => {
    ends++;
    return ended;
  });
  const stops = [running.stop(), running.stop()];
  end();
  await Promise.all(stops);
  await running.stop();
  expect(ends).toBe(1);
});
