import {
  DiscardPolicy,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "nats";
import { type BackoffRange, backoffMs, pause } from "./backoff.ts";
import { isTransient, precondition } from "./errors.ts";
import type { Logger } from "./log.ts";
import type { Nats } from "./nats.ts";
import { isStreamMissing, JETSTREAM, jetstreamCode, toNatsFailure } from "./nats-error.ts";
import {
  DUPLICATE_WINDOW_MS,
  STREAM_NAMES,
  STREAMS,
  type StreamDefinition,
  type StreamName,
} from "./streams.ts";

/** What an operator chooses per installation. */
export interface StreamSettings {
  /** Copies of each stream; what the connection was given unless set here. */
  readonly replicas?: number;
  /**
   * Size limits in bytes; a stream without one is limited by the server's storage only. Some servers (2.9.10)
   * drop the oldest messages at the limit though they acknowledged them: readers report or heal that, but
   * use a current one.
   */
  readonly maxBytes?: Partial<Record<StreamName, number>>;
}

const RETRY: BackoffRange = { firstMs: 250, mostMs: 5_000 };

/**
 * Makes every stream that is missing and brings the others up to their definition, with any number of
 * services at it at once. Waits for ever while NATS is away (or until `signal`): a service that is to serve
 * meanwhile does not await it; relay and consumers make the stream they need by themselves.
 *
 * @throws precondition `STREAM_MISCONFIGURED` when a stream of that name is of another kind.
 */
export async function ensureStreams(
  nats: Nats,
  { log, signal, ...settings }: StreamSettings & { log?: Logger; signal?: AbortSignal } = {},
): Promise<void> {
  for (const name of STREAM_NAMES) {
    for (let failures = 0; !signal?.aborted; failures++) {
      try {
        await nats.whenConnected(signal);
        await ensureStream(nats, name, settings);
        break;
      } catch (error) {
        const failure = toNatsFailure(error);
        if (!isTransient(failure)) throw failure;
        log?.warn({ err: failure, stream: name }, "a stream could not be made");
        await pause(backoffMs(failures, RETRY), signal);
      }
    }
  }
}

/** The same for one stream, in one try; gives its state. */
export async function ensureStream(
  nats: Nats,
  name: StreamName,
  settings: StreamSettings = {},
): Promise<StreamInfo> {
  const wanted = wantedConfig(name, { replicas: nats.replicas, ...settings });
  const found = await findStream(nats, name);
  try {
    if (!found) return await nats.manager.streams.add(wanted);
    const change = changeOf(found.config, wanted);
    return change ? await nats.manager.streams.update(name, change) : found;
  } catch (error) {
    // When another service with other settings made it first, this is one of the failures to try again after.
    throw toNatsFailure(error);
  }
}

/** Runs `work`; when it fails for want of the stream (a wiped store, a new server), makes that and runs it again. */
export async function withStream<T>(
  nats: Nats,
  name: StreamName,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStreamMissing(error)) throw error;
    await ensureStream(nats, name);
    return work();
  }
}

/** The state of a stream; undefined: it is not there. */
export async function findStream(nats: Nats, name: StreamName): Promise<StreamInfo | undefined> {
  try {
    return await nats.manager.streams.info(name);
  } catch (error) {
    if (jetstreamCode(error) === JETSTREAM.streamNotFound) return undefined;
    throw toNatsFailure(error);
  }
}

type WantedConfig = Pick<
  StreamConfig,
  | "name"
  | "subjects"
  | "retention"
  | "storage"
  | "discard"
  | "max_age"
  | "max_bytes"
  | "num_replicas"
  | "duplicate_window"
>;

function wantedConfig(name: StreamName, { replicas = 1, maxBytes }: StreamSettings): WantedConfig {
  const { subjects, kind, maxAgeMs }: StreamDefinition = STREAMS[name];
  return {
    name,
    subjects: [...subjects],
    retention: kind === "work" ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses; the publisher keeps the event in its outbox. Discarding old would lose it.
    discard: DiscardPolicy.New,
    max_age: nanos(maxAgeMs),
    max_bytes: maxBytes?.[name] ?? -1,
    num_replicas: replicas,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  };
}

/**
 * What has to change for `found` to be as wanted; undefined: nothing. What an operator has raised stays:
 * more replicas, a longer age or window; and a size limit set by hand stays where configuration has none.
 */
function changeOf(found: StreamConfig, wanted: WantedConfig): Partial<StreamConfig> | undefined {
  if (found.retention !== wanted.retention || found.storage !== wanted.storage) {
    throw precondition(
      "STREAM_MISCONFIGURED",
      `the stream ${wanted.name} exists with ${found.retention} retention on ${found.storage} storage and needs ${wanted.retention} on ${wanted.storage}: move its messages and delete it`,
    );
  }
  const change: Partial<StreamConfig> = {
    subjects: wanted.subjects,
    discard: wanted.discard,
    max_age: longest(found.max_age, wanted.max_age),
    max_bytes: wanted.max_bytes === -1 ? found.max_bytes : wanted.max_bytes,
    num_replicas: Math.max(found.num_replicas, wanted.num_replicas),
    duplicate_window: Math.max(found.duplicate_window, wanted.duplicate_window),
  };
  const differs = Object.entries(change).some(
    ([key, value]) => String(value) !== String(found[key as keyof StreamConfig]),
  );
  return differs ? change : undefined;
}

/** Zero means for ever. */
const longest = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.max(a, b));
