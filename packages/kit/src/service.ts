import { toLapseError } from "./errors.ts";
import { createLogger, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { describeSettings } from "./settings/describe.ts";
import type { Settings } from "./settings/load.ts";

/** What a service is given to start with. */
export interface ServiceContext<S extends Settings> {
  readonly settings: S;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Aborted when the service is to stop, also while it is still starting. */
  readonly signal: AbortSignal;
  /** Registers how to end what was just started; run in reverse order, each awaited. */
  onStop(name: string, end: () => Promise<unknown>): void;
  /** Stops the service because it cannot go on; the process exits with 1. */
  fail(error: unknown): void;
}

export interface RunServiceOptions<S extends Settings> {
  readonly name: string;
  /** The settings, or what reads them, whose fault is then logged like any other. */
  readonly settings: S | (() => S);
  readonly start: (service: ServiceContext<S>) => Promise<void>;
  /** How long stopping may take; 9 s unless given, since most supervisors kill after 10. */
  readonly stopWithinMs?: number;
}

/** The part of `process` that is used, so that a test can stand in for it. */
export interface Host {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

/**
 * Runs a service as this process, from its start to its exit.
 *
 * SIGTERM and SIGINT stop it in the reverse order of its start and exit with 0; past the time for that,
 * or at a second signal, it exits with 1 at once. A fault at the start, an unhandled rejection or an
 * uncaught exception is logged as fatal and exits with 1: whatever was under way is taken up again by
 * the next start.
 */
export async function runService<S extends Settings>(
  { name, settings: given, start, stopWithinMs = 9_000 }: RunServiceOptions<S>,
  host: Host = process,
): Promise<void> {
  let log = createLogger({ service: name });
  const stop = new AbortController();
  const ends: { name: string; end: () => Promise<unknown> }[] = [];

  const die = (error: unknown, message: string) => {
    log.fatal({ err: error }, message);
    host.exit(1);
  };
  host.on("uncaughtException", (error) => die(error, "uncaught exception"));
  host.on("unhandledRejection", (reason) => die(reason, "unhandled rejection"));

  const stopWith = async (code: number) => {
    stop.abort();
    let stopping = "";
    const late = setTimeout(() => {
      log.fatal({ stopping, within_ms: stopWithinMs }, "stopping took too long");
      host.exit(1);
    }, stopWithinMs);
    for (let next = ends.pop(); next; next = ends.pop()) {
      stopping = next.name;
      log.debug({ part: next.name }, "stopping a part");
      try {
        await next.end();
      } catch (error) {
        log.error({ err: error, part: stopping }, "a part did not stop cleanly");
      }
    }
    clearTimeout(late);
    log.info({ code }, "stopped");
    host.exit(code);
  };
  const onSignal = (signal: unknown) => {
    if (stop.signal.aborted) return die(new Error(`second ${signal}`), "stopped at once");
    log.info({ signal }, "stopping");
    return void stopWith(0);
  };
  host.on("SIGTERM", onSignal);
  host.on("SIGINT", onSignal);
  const fail = (error: unknown) => {
    log.fatal({ err: toLapseError(error) }, "the service cannot go on");
    if (!stop.signal.aborted) void stopWith(1);
  };

  try {
    const settings = typeof given === "function" ? given() : given;
    log = createLogger({ service: name, level: settings.log.level });
    log.info({ settings: describeSettings(settings) }, "starting");
    const metrics = createMetrics(name, { process: true });
    await start({
      settings,
      log,
      metrics,
      signal: stop.signal,
      onStop: (part, end) => ends.push({ name: part, end }),
      fail,
    });
    if (!stop.signal.aborted) log.info("started");
  } catch (error) {
    // What a stop interrupts may fail in any way; the stop is the reason, and is under way.
    if (!stop.signal.aborted) fail(error);
  }
}
