import { type Nats, type Pool, unavailable } from "@lapse/kit";
import { FOLDED_STREAMS, type FoldedStream, type StreamHead } from "../domain/fence.ts";
import type { EvaluatorMetrics } from "../metrics.ts";
import { PositionWatch } from "./position-watch.ts";
import { SharedRead } from "./shared-read.ts";

/** How long to wait, and for how long anybody wants to know. */
export interface FenceOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Makes sure that everything that had reached the streams when it was asked is folded. */
export interface Fence {
  /**
   * Waits until all streams are folded up to where they were at the call, and says where that was.
   *
   * @throws unavailable `BROKER_UNREACHABLE`, `EVALUATOR_BEHIND` within `timeoutMs`
   */
  pass(options: FenceOptions): Promise<readonly StreamHead[]>;
  /** The same for one stream. */
  passStream(stream: FoldedStream, options: FenceOptions): Promise<StreamHead>;
  /** The last message of each stream now. @throws unavailable `BROKER_UNREACHABLE` */
  heads(): Promise<readonly StreamHead[]>;
}

/**
 * A fence over the streams of `nats` and the positions in the database of `pool`. Callers at the same time
 * share the work.
 */
export function createFence({
  pool,
  nats,
  metrics,
}: {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly metrics: Pick<EvaluatorMetrics, "fenceWait">;
}): Fence {
  const positions = new PositionWatch(pool);
  const reading = new SharedRead(() =>
    Promise.all(FOLDED_STREAMS.map((stream) => readHead(nats, stream))),
  );

  async function waitFor(read: Promise<readonly StreamHead[]>, options: FenceOptions) {
    const started = performance.now();
    const heads = await within(read, options);
    const timeoutMs = Math.max(0, options.timeoutMs - (performance.now() - started));
    const behind = await positions.waitFor(heads, { timeoutMs, signal: options.signal });
    metrics.fenceWait.observe((performance.now() - started) / 1000);
    if (behind !== undefined) {
      throw unavailable(
        "EVALUATOR_BEHIND",
        `what has reached the stream ${behind.stream} is not all evaluated yet; repeat the call`,
        { details: { stream: behind.stream, sequence: String(behind.sequence) } },
      );
    }
    return heads;
  }

  return {
    heads: () => reading.get(),
    pass: (options) => waitFor(reading.get(), options),
    async passStream(stream, options) {
      const head = readHead(nats, stream);
      await waitFor(
        head.then((only) => [only]),
        options,
      );
      return head;
    },
  };
}

async function readHead(nats: Nats, stream: FoldedStream): Promise<StreamHead> {
  // A request while disconnected would only be noticed by its time-out.
  if (!nats.connected) {
    throw unreachable();
  }
  try {
    const { state, created } = await nats.manager.streams.info(stream);
    return { stream, sequence: BigInt(state.last_seq), streamCreatedAt: new Date(created) };
  } catch (error) {
    throw unreachable(error);
  }
}

/** The client's own time-out is longer than a caller of the fence may be kept waiting. */
async function within<T>(work: Promise<T>, { timeoutMs, signal }: FenceOptions): Promise<T> {
  let stop: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    const give = () => reject(unreachable());
    const timer = setTimeout(give, timeoutMs);
    signal.addEventListener("abort", give);
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", give);
    };
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}

const unreachable = (cause?: unknown) =>
  unavailable(
    "BROKER_UNREACHABLE",
    "NATS cannot be reached, so what was used last is not known; repeat the call",
    { cause },
  );
