import { randomUUID } from "node:crypto";
import { type Dispatcher, request as sendRequest } from "undici";
import { LapseApiError, LapseInputError, LapseUnreachableError } from "../errors.ts";
import { pauseAfter } from "./pause.ts";
import { notLapse, toApiError } from "./problem.ts";
import { readJson } from "./read-json.ts";

export type HttpSettings = {
  /** Where the gateway listens, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Bearer token: a JWT, or an API key. */
  readonly token: string;
  /** How long one attempt may take, in ms. Default 30,000. */
  readonly timeoutMs?: number;
  /** How often a call is tried altogether. Default 4. */
  readonly attempts?: number;
  /**
   * The longest wait that a server may ask for between two attempts, in ms. Default 30,000; when it asks for more, its
   * refusal is thrown at once.
   */
  readonly longestWaitMs?: number;
};

/** What every call takes, as its last argument. */
export type CallOptions = {
  /** Ends the call, also while it waits to be tried again. It rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How long one attempt may take, in ms. */
  readonly timeoutMs?: number;
};

/** What every call that changes something takes, as its last argument. */
export type WriteOptions = CallOptions & {
  /**
   * Calls with the same key and the same content have one effect together, for a day. A new one is made for each call
   * where none is given, so that its own attempts have one effect.
   */
  readonly idempotencyKey?: string;
};

type QueryValue = string | number | boolean | Date | undefined;

export type Request = {
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  readonly options?: WriteOptions | undefined;
  /** For calls that take long; the caller's own wins. */
  readonly timeoutMs?: number;
};

export type Http = {
  /**
   * Sends one call and returns its JSON as it came; undefined for an answer without content.
   *
   * @throws {LapseApiError} {@link LapseUnreachableError}
   */
  readonly send: (method: string, path: string, request?: Request) => Promise<unknown>;
  /** Opens a stream of server-sent events. */
  readonly open: (path: string, request?: Request) => Promise<AsyncIterable<Uint8Array>>;
};

/** The gateway shows a sign of life every 15 s: a stream that is silent for longer is dead. */
const SILENCE_MS = 60_000;

/**
 * A JSON client for the gateway. Every call is safe to repeat: reads by nature, writes by their `Idempotency-Key`. So
 * a call is tried again, with back-off and no sooner than `Retry-After` says, when no answer came or the answer was
 * 429, 502, 503 or 504.
 *
 * It sends by undici's `request`, not by `fetch`: that refuses some ports (10080 among them) whoever listens there.
 */
export function createHttp(settings: HttpSettings): Http {
  const attempts = settings.attempts ?? 4;
  const longestWaitMs = settings.longestWaitMs ?? 30_000;

  const send = async (method: string, path: string, request: Request = {}): Promise<unknown> => {
    const { signal } = request.options ?? {};
    const call = prepare(settings, method, path, request);
    signal?.throwIfAborted();
    for (let attempt = 1; ; attempt++) {
      let retryAfterMs: number | null = null;
      try {
        return await sendOnce(call);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof LapseApiError) {
          retryAfterMs = error.retryAfterMs;
          const tooLong = (retryAfterMs ?? 0) > longestWaitMs;
          if (attempt >= attempts || !error.retryable || tooLong) throw error;
        } else if (attempt >= attempts) {
          throw unreachable(settings.url, error);
        }
      }
      await pauseAfter(attempt, signal, retryAfterMs);
    }
  };

  const open = async (path: string, request: Request = {}): Promise<AsyncIterable<Uint8Array>> => {
    const { signal } = request.options ?? {};
    try {
      const answer = await sendRequest(addressOf(settings, path, request.query), {
        headers: { accept: "text/event-stream", authorization: `Bearer ${settings.token}` },
        bodyTimeout: SILENCE_MS,
        ...(signal ? { signal } : {}),
      });
      if (isOk(answer)) return answer.body;
      throw toApiError(answer.statusCode, await answer.body.text(), answer.headers);
    } catch (error) {
      if (error instanceof LapseApiError) throw error;
      signal?.throwIfAborted();
      throw unreachable(settings.url, error);
    }
  };

  return { send, open };
}

const isOk = ({ statusCode }: { readonly statusCode: number }): boolean =>
  statusCode >= 200 && statusCode < 300;

function addressOf(settings: HttpSettings, path: string, query: Request["query"] = {}): URL {
  const url = new URL(path, `${settings.url.replace(/\/+$/, "")}/`);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    url.searchParams.set(name, value instanceof Date ? instantText(name, value) : String(value));
  }
  return url;
}

function instantText(name: string, value: Date): string {
  if (!Number.isNaN(value.getTime())) return value.toISOString();
  throw new LapseInputError(`${name} is no valid time.`);
}

type Call = {
  readonly address: URL;
  readonly request: Omit<NonNullable<Parameters<typeof sendRequest>[1]>, "signal">;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Everything that is the same for all attempts. */
function prepare(
  settings: HttpSettings,
  method: string,
  path: string,
  { query, body, options = {}, timeoutMs }: Request,
): Call {
  const key = options.idempotencyKey ?? randomUUID();
  return {
    address: addressOf(settings, path, query),
    request: {
      method: method as Dispatcher.HttpMethod,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${settings.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(method === "GET" ? {} : { "idempotency-key": key }),
      },
      // The signal is what ends it; undici's own limits would end a long answer before.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
    timeoutMs: options.timeoutMs ?? timeoutMs ?? settings.timeoutMs ?? 30_000,
    signal: options.signal,
  };
}

async function sendOnce({ address, request, timeoutMs, signal }: Call): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const answer = await sendRequest(address, {
    ...request,
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  const text = await answer.body.text();
  if (!isOk(answer)) throw toApiError(answer.statusCode, text, answer.headers);
  if (text === "") return undefined;
  try {
    return readJson(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw notLapse(answer.statusCode, answer.headers, why);
  }
}

function unreachable(url: string, cause: unknown): LapseUnreachableError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = inner instanceof Error ? inner.message : String(inner);
  return new LapseUnreachableError(
    `No answer from Lapse at ${url} (${why}). Check that it runs and that the address is right.`,
    { cause },
  );
}
