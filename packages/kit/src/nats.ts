import {
  type ConnectionOptions,
  connect,
  type Events,
  headers as emptyHeaders,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
  type PubAck,
  type Status,
} from "nats";
import { pause } from "./backoff.ts";
import { invalid, unavailable } from "./errors.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { toNatsFailure } from "./nats-error.ts";
import { parseNatsUrl } from "./nats-url.ts";
import type { StreamName } from "./streams.ts";
import { streamOf } from "./subjects.ts";

/** One process's connection to NATS, kept for as long as the process lives. */
export interface Nats {
  readonly connected: boolean;
  /** @throws unavailable `NATS_UNAVAILABLE` before the first connection; likewise the next two. */
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Copies that a stream made through this connection has. */
  readonly replicas: number;
  /**
   * Publishes to the stream that takes `subject` and resolves once it is stored there.
   *
   * @throws unavailable `NATS_UNAVAILABLE`, `STREAM_NOT_FOUND`, `STREAM_FULL`: it may have been stored all
   *   the same, so repeat it with the same `msgId`.
   * @throws invalid `EVENT_TOO_LARGE`, `SUBJECT_UNKNOWN`.
   */
  publish(
    subject: string,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
    options: { readonly msgId: string; readonly stream?: StreamName },
  ): Promise<PubAck>;
  /** Resolves when connected, or when `signal` is aborted. */
  whenConnected(signal?: AbortSignal): Promise<void>;
  /** Resolves when `close` has been called and is done. */
  readonly closed: Promise<void>;
  /** Sends what is queued, waiting 2 s at most, and disconnects for good. */
  close(): Promise<void>;
}

export interface NatsOptions {
  /** See `parseNatsUrl`; credentials given beside it win over those in it. */
  readonly url: string;
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  readonly replicas?: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const FIRST_WAIT_MS = 2_000;
const DIAL_TIMEOUT_MS = 5_000;
const PUBLISH_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
const RECONNECT_MS = { least: 250, most: 2_000 };

const reconnectDelay = (): number =>
  RECONNECT_MS.least + Math.random() * (RECONNECT_MS.most - RECONNECT_MS.least);

/**
 * Connects and stays connected: it dials again for ever, whatever ended the last connection. Resolves when
 * connected, or after 2 s without, so that a service starts while NATS is away and is ready when it is back.
 */
export async function connectNats(options: NatsOptions): Promise<Nats> {
  const nats = new NatsLink(options);
  await nats.whenConnected(AbortSignal.timeout(FIRST_WAIT_MS));
  return nats;
}

interface Live {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
}

class NatsLink implements Nats {
  readonly replicas: number;
  readonly closed: Promise<void>;
  readonly #log: Logger;
  readonly #gauge: { set(value: number): void };
  readonly #closing = new AbortController();
  #connected = false;
  #live: Live | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(options: NatsOptions) {
    this.replicas = options.replicas ?? 1;
    this.#log = options.log;
    this.#gauge = options.metrics.gauge("lapse_nats_connected", "1 while connected to NATS");
    this.#gauge.set(0);
    this.closed = this.#keepConnected(connectionOptions(options));
  }

  get connected(): boolean {
    return this.#connected;
  }
  get connection(): NatsConnection {
    return this.#current().connection;
  }
  get jetstream(): JetStreamClient {
    return this.#current().jetstream;
  }
  get manager(): JetStreamManager {
    return this.#current().manager;
  }

  async publish(
    subject: string,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
    { msgId, stream = streamOf(subject) }: { msgId: string; stream?: StreamName | undefined },
  ): Promise<PubAck> {
    if (!stream) {
      throw invalid("SUBJECT_UNKNOWN", `no stream of Lapse takes the subject ${subject}`);
    }
    // A publish while disconnected would be dropped by the client and only noticed by its time-out.
    if (!this.#connected) throw notConnected();
    const hdrs = emptyHeaders();
    for (const [key, value] of Object.entries(headers)) hdrs.set(key, value);
    try {
      return await this.jetstream.publish(subject, body, {
        msgID: msgId,
        headers: hdrs,
        expect: { streamName: stream },
      });
    } catch (error) {
      throw toNatsFailure(error);
    }
  }

  async whenConnected(signal?: AbortSignal): Promise<void> {
    if (this.#connected || signal?.aborted || this.#closing.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener("abort", done);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#live?.connection;
    if (connection && !connection.isClosed()) {
      const drained = this.#connected
        ? connection.drain().catch(() => undefined)
        : Promise.resolve();
      const waited = new AbortController();
      await Promise.race([drained, pause(CLOSE_TIMEOUT_MS, waited.signal)]);
      waited.abort();
      await connection.close();
    }
    await this.closed;
  }

  #current(): Live {
    if (!this.#live) throw notConnected();
    return this.#live;
  }

  async #keepConnected(options: ConnectionOptions): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const connection = await connect(options);
        await this.#use(connection);
      } catch (error) {
        this.#log.warn({ err: error }, "NATS cannot be reached");
      }
      await pause(reconnectDelay(), signal);
    }
    this.#wake();
  }

  /** Resolves when the connection is closed for good: by `close`, or because the client gave it up. */
  async #use(connection: NatsConnection): Promise<void> {
    if (this.#closing.signal.aborted) return connection.close();
    this.#live = {
      connection,
      jetstream: connection.jetstream({ timeout: PUBLISH_TIMEOUT_MS }),
      manager: await connection.jetstreamManager({
        checkAPI: false,
        timeout: PUBLISH_TIMEOUT_MS,
      }),
    };
    this.#log.info({ server: connection.getServer() }, "connected to NATS");
    this.#setConnected(true);
    // Not awaited: the client does not end it with the connection.
    void this.#watch(connection);
    const reason = await connection.closed();
    this.#setConnected(false);
    if (reason) throw reason;
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.#noteStatus(status);
  }

  #noteStatus({ type, data }: Status): void {
    switch (type as `${Events}` | "staleConnection") {
      case "disconnect":
        this.#setConnected(false);
        this.#log.warn({ server: data }, "disconnected from NATS");
        break;
      case "reconnect":
        this.#setConnected(true);
        this.#log.info({ server: data }, "connected to NATS again");
        break;
      case "staleConnection":
        this.#log.warn("NATS does not answer: reconnecting");
        break;
      case "error":
        this.#log.error({ code: data }, "NATS reported an error");
        break;
      default:
        this.#log.debug({ type, data }, "NATS status");
    }
  }

  #setConnected(connected: boolean): void {
    this.#connected = connected;
    this.#gauge.set(connected ? 1 : 0);
    if (connected) this.#wake();
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}

const notConnected = () =>
  unavailable("NATS_UNAVAILABLE", "NATS cannot be reached at the moment; repeat the call");

function connectionOptions({ url, name, user, password, token }: NatsOptions): ConnectionOptions {
  return {
    ...parseNatsUrl(url),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    name,
    timeout: DIAL_TIMEOUT_MS,
    // The client gives up for good after ten tries otherwise, also after a second refused login.
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: reconnectDelay,
    // A stack trace per request halves the speed.
    noAsyncTraces: true,
    // A server that hangs without closing the connection is noticed in half a minute, not in six.
    pingInterval: 10_000,
    maxPingOut: 2,
  };
}
