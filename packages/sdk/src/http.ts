import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Fault, LapseApiError, LapseUnreachableError } from "./errors.ts";

export type HttpSettings = {
  /** Where the gateway listens, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Bearer token. */
  readonly token: string;
  /** How long one attempt may take, in ms. Default 30,000. */
  readonly timeoutMs?: number;
  /** How often a call is tried altogether. Default 4. */
  readonly attempts?: number;
  readonly fetch?: typeof fetch;
};

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type Request = {
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
  readonly open: (path: string, request?: Request) => Promise<Response>;
};

const RETRIED_STATUS = new Set([429, 502, 503, 504]);
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * A JSON client for the gateway. Every call is safe to repeat: reads by nature, writes by their
 * `Idempotency-Key`, so a call is tried again with back-off when no answer came or the answer was
 * 429, 502, 503 or 504.
 */
export function createHttp(settings: HttpSettings): Http {
  const attempts = settings.attempts ?? 4;
  const call = settings.fetch ?? fetch;

  const once = async (method: string, path: string, request: Request, key: string) => {
    const timeout = AbortSignal.timeout(request.timeoutMs ?? settings.timeoutMs ?? 30_000);
    const url = new URL(path.replace(/^\//, ""), `${settings.url.replace(/\/$/, "")}/`);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = {
      accept: "application/json",
      authorization: `Bearer ${settings.token}`,
    };
    if (request.body !== undefined) headers["content-type"] = "application/json";
    if (method !== "GET") headers["idempotency-key"] = key;
    return call(url, {
      method,
      headers,
      signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
  };

  const send = async <T>(method: string, path: string, request: Request = {}): Promise<T> => {
    const key = request.idempotencyKey ?? randomUUID();
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      try {
        const response = await once(method, path, request, key);
        if (response.ok) return (await readJson(response)) as T;
        if (last || !RETRIED_STATUS.has(response.status)) throw await toApiError(response);
        await response.body?.cancel();
      } catch (error) {
        if (error instanceof LapseApiError) throw error;
        request.signal?.throwIfAborted();
        if (last) throw unreachable(settings.url, error);
      }
      await delay(
        pauseBefore(attempt),
        undefined,
        request.signal ? { signal: request.signal } : {},
      );
    }
  };

  const open = async (path: string, request: Request = {}): Promise<Response> => {
    try {
      const url = new URL(path.replace(/^\//, ""), `${settings.url.replace(/\/$/, "")}/`);
      for (const [name, value] of Object.entries(request.query ?? {})) {
        if (value !== undefined) url.searchParams.set(name, String(value));
      }
      const response = await call(url, {
        headers: { accept: "text/event-stream", authorization: `Bearer ${settings.token}` },
        ...(request.signal ? { signal: request.signal } : {}),
      });
      if (!response.ok) throw await toApiError(response);
      return response;
    } catch (error) {
      if (error instanceof LapseApiError) throw error;
      request.signal?.throwIfAborted();
      throw unreachable(settings.url, error);
    }
  };

  return { send, open };
}

function pauseBefore(attempt: number): number {
  const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return ceiling / 2 + Math.random() * (ceiling / 2);
}

function unreachable(url: string, cause: unknown): LapseUnreachableError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = inner instanceof Error ? inner.message : String(inner);
  return new LapseUnreachableError(
    `No answer from Lapse at ${url} (${why}). Check that it runs and that the address is right.`,
    { cause },
  );
}

async function readJson(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  return response.json();
}

async function toApiError(response: Response): Promise<LapseApiError> {
  const text = await response.text();
  const problem = parseProblem(text);
  return new LapseApiError(response.status, {
    code: typeof problem.code === "string" ? problem.code : `HTTP_${response.status}`,
    detail:
      typeof problem.detail === "string"
        ? problem.detail
        : `The server answered ${response.status} ${response.statusText}.`.trim(),
    faults: Array.isArray(problem.errors) ? (problem.errors as Fault[]) : [],
    traceId: typeof problem.trace_id === "string" ? problem.trace_id : null,
  });
}

function parseProblem(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // A proxy in between may answer in HTML; the status then says what there is to say.
    return {};
  }
}
