import { randomUUID } from "node:crypto";
import { type Dispatcher, request as sendRequest } from "undici";
import { LapseApiError, LapseUnreachableError } from "./errors.ts";
import { pauseAfter } from "./pause.ts";
import { toApiError } from "./problem.ts";

export type HttpSettings = {
  /** Where the gateway listens, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Bearer token. */
  readonly token: string;
  /** How long one attempt may take, in ms. Default 30,000. */
  readonly timeoutMs?: number;
  /** How often a call is tried altogether. Default 4. */
  readonly attempts?: number;
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

type Request = {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Sent with a write so that a repeated attempt has one effect; made up when absent. */
  readonly idempotencyKey?: string;
  /** Overrides the settings' timeout, in ms. */
  readonly timeoutMs?: number;
};

export type Http = {
  /** Sends one call and returns its JSON. Throws {@link LapseApiError} or {@link LapseUnreachableError}. */
  readonly send: <T>(method: string, path: string, request?: Request) => Promise<T>;
  /** Opens a stream of server-sent events. */
  readonly open: (path: string, request?: Request) => Promise<AsyncIterable<Uint8Array>>;
};

/** The gateway shows a sign of life every 15 s: a stream that is silent for longer is dead. */
const SILENCE_MS = 60_000;

/**
 * A JSON client for the gateway. Every call is safe to repeat: reads by nature, writes by their
 * `Idempotency-Key`, so a call is tried again with back-off when no answer came or the answer was
 * 429, 502, 503 or 504.
 *
 * It sends by undici's `request`, not by `fetch`: that refuses some ports (10080 among them) whoever listens there.
 */
export function createHttp(settings: HttpSettings): Http {
  const attempts = settings.attempts ?? 4;

  const send = async <T>(method: string, path: string, request: Request = {}): Promise<T> => {
    const key = request.idempotencyKey ?? randomUUID();
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      try {
        const answer = await sendOnce(settings, method, path, request, key);
        if (isOk(answer)) return (await readJson(answer)) as T;
        const refusal = toApiError(answer.statusCode, await answer.body.text());
        if (last || !refusal.repeatable) throw refusal;
      } catch (error) {
        if (error instanceof LapseApiError) throw error;
        request.signal?.throwIfAborted();
        if (last) throw unreachable(settings.url, error);
      }
      await pauseAfter(attempt, request.signal);
    }
  };

  const open = async (path: string, request: Request = {}): Promise<AsyncIterable<Uint8Array>> => {
    try {
      const answer = await sendRequest(addressOf(settings, path, request.query), {
        headers: { accept: "text/event-stream", authorization: `Bearer ${settings.token}` },
        bodyTimeout: SILENCE_MS,
        ...(request.signal ? { signal: request.signal } : {}),
      });
      if (!isOk(answer)) throw toApiError(answer.statusCode, await answer.body.text());
      return answer.body;
    } catch (error) {
      if (error instanceof LapseApiError) throw error;
      request.signal?.throwIfAborted();
      throw unreachable(settings.url, error);
    }
  };

  return { send, open };
}

type Answer = Dispatcher.ResponseData;

const isOk = ({ statusCode }: Answer): boolean => statusCode >= 200 && statusCode < 300;

function addressOf(settings: HttpSettings, path: string, query: Query = {}): URL {
  const url = new URL(path.replace(/^\//, ""), `${settings.url.replace(/\/$/, "")}/`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function sendOnce(
  settings: HttpSettings,
  method: string,
  path: string,
  request: Request,
  key: string,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(request.timeoutMs ?? settings.timeoutMs ?? 30_000);
  return sendRequest(addressOf(settings, path, request.query), {
    method: method as Dispatcher.HttpMethod,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${settings.token}`,
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...(method === "GET" ? {} : { "idempotency-key": key }),
    },
    // The signal is what ends it; undici's own limits would end a long answer before.
    headersTimeout: 0,
    bodyTimeout: 0,
    signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
}

function unreachable(url: string, cause: unknown): LapseUnreachableError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = inner instanceof Error ? inner.message : String(inner);
  return new LapseUnreachableError(
    `No answer from Lapse at ${url} (${why}). Check that it runs and that the address is right.`,
    { cause },
  );
}

async function readJson(answer: Answer): Promise<unknown> {
  if (answer.statusCode !== 204) return answer.body.json();
  await answer.body.dump();
  return undefined;
}
