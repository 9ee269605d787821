import {
  type Authenticate,
  createLogger,
  createMetrics,
  type Metrics,
  type ParkedPage,
  type Principal,
  unauthenticated,
} from "@lapse/kit";
import type { Api, ApiDeps } from "../src/api/http/api.ts";
import { createServer } from "../src/api/server.ts";
import type { Broker } from "../src/broker.ts";
import { connectPeers } from "../src/peers.ts";
import { type FakeServices, GATEWAY_TOKEN, startFakeServices } from "./fake-services.ts";

const ANA: Principal = {
  subject: "ana@example.org",
  tenant: "local",
  roles: ["admin"],
  kind: "person",
};
const PRINCIPALS: Readonly<Record<string, Principal>> = {
  ana: ANA,
  rita: { subject: "rita@example.org", tenant: "local", roles: ["reader"], kind: "person" },
  /** Without any role. */
  nora: { subject: "nora@example.org", tenant: "local", roles: [], kind: "person" },
  root: { subject: "root@example.org", tenant: "local", roles: ["superadmin"], kind: "person" },
};

const authenticate: Authenticate = async (token) => {
  const principal = PRINCIPALS[token];
  if (principal) return principal;
  throw unauthenticated("TOKEN_INVALID", "the token is not accepted: it is made up");
};

export type Published = Parameters<Broker["publishActivity"]>[0];

/** Stands in for NATS where a test is not about NATS. */
class FakeBroker implements Broker {
  connected = true;
  published: Published[] = [];
  parked: ParkedPage = { items: [], next: undefined };
  asked: unknown[] = [];
  /** Thrown in place of the n-th publish. */
  failAt: { index: number; error: Error } | undefined;

  async publishActivity(message: Published): Promise<void> {
    if (this.failAt?.index === this.published.length) throw this.failAt.error;
    this.published.push(message);
  }
  async listParked(page: unknown): Promise<ParkedPage> {
    this.asked.push(page);
    return this.parked;
  }
  retryParked: Broker["retryParked"] = async (sequence) => this.#take("retry", sequence);
  discardParked: Broker["discardParked"] = async (sequence, { actor, reason }) =>
    this.#take("discard", sequence, actor, reason);

  #take(...what: unknown[]) {
    this.asked.push(what);
    const [item] = this.parked.items;
    if (!item) throw new Error("the test has nothing parked");
    return item;
  }
}

/** A body as a client without types sees it, with the lists that tests look into. */
interface Body {
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  readonly services: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly detail: string;
  }[];
  readonly outboxes: readonly { readonly service: string }[];
  readonly [field: string]: unknown;
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  /** The body as JSON, where it is JSON. */
  readonly json: Body;
  readonly text: string;
}

export interface Harness extends FakeServices {
  readonly api: Api;
  readonly broker: FakeBroker;
  readonly metrics: Metrics;
  /** Lines that were logged, as objects. */
  readonly logged: Record<string, unknown>[];
  call(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS",
    path: string,
    request?: {
      body?: unknown;
      token?: string | null;
      headers?: Record<string, string>;
    },
  ): Promise<Reply>;
}

/** The REST API in front of fake services. */
export async function startHarness(over: Partial<ApiDeps> = {}): Promise<Harness> {
  const services = await startFakeServices();
  const logged: Record<string, unknown>[] = [];
  const log = createLogger({
    service: "gateway",
    level: "debug",
    destination: { write: (line: string) => void logged.push(JSON.parse(line)) },
  });
  const { peers, close } = connectPeers({
    urls: services.urls,
    serviceToken: () => GATEWAY_TOKEN,
    log,
  });
  const broker = new FakeBroker();
  const metrics = createMetrics("gateway");
  const api = await createServer({
    peers,
    broker,
    authenticate,
    log,
    metrics,
    warningWindowMs: 7 * 86_400_000,
    now: () => new Date("2026-11-30T12:00:00.000Z"),
    ...over,
  });
  return {
    ...services,
    api,
    broker,
    metrics,
    logged,
    async call(method, path, { body, token = "ana", headers = {} } = {}) {
      const answer = await api.inject({
        method,
        url: path,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && {
          payload: typeof body === "string" ? body : JSON.stringify(body),
        }),
      });
      const type = String(answer.headers["content-type"] ?? "");
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.body,
        json: type.includes("json") && answer.body !== "" ? JSON.parse(answer.body) : undefined,
      };
    },
    reset() {
      services.reset();
      logged.length = 0;
      broker.published = [];
      broker.failAt = undefined;
      broker.connected = true;
      broker.asked = [];
    },
    async stop() {
      await api.close();
      close();
      await services.stop();
    },
  };
}

/** Serves the API on a real port; gives its address. */
export const listening = ({ api }: Harness): Promise<string> =>
  api.listen({ host: "127.0.0.1", port: 0 });
