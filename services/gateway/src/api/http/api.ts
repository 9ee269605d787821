import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authenticate, Logger, Metrics } from "@lapse/kit";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Broker } from "../../broker.ts";
import type { Peers } from "../../peers.ts";

/** The HTTP server, with schemas in zod. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** What the routes work with. */
export interface ApiDeps {
  readonly peers: Peers;
  readonly broker: Broker;
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** How far ahead a table counts as expiring soon, in ms. */
  readonly warningWindowMs: number;
  readonly now: () => Date;
  /** Time between the signs of life of an event stream, in ms; 15 s unless given. */
  readonly heartbeatMs?: number;
  /** Time between the checks whether the token of an event stream still holds, in ms; 1 s unless given. */
  readonly recheckMs?: number;
}
