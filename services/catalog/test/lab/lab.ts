import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createGrpcClient,
  createGrpcServer,
  createLogger,
  createMetrics,
  createPool,
  type GrpcClient,
  newId,
  type Principal,
  parsePrincipal,
  type Role,
  type ServiceDesc,
} from "@lapse/kit";
import { openObjectStore } from "@lapse/object-store";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import { testDatabase } from "@lapse/test-kit";
import { accessHandlers } from "../../src/api/access-handlers.ts";
import { catalogHandlers } from "../../src/api/catalog-handlers.ts";
import type { CatalogDeps } from "../../src/app/deps.ts";
import { createCatalogMetrics } from "../../src/metrics.ts";
import { type FaultyStore, faultyStore } from "./faulty-store.ts";
import { writtenEvents } from "./outbox.ts";
import {
  type LabEvaluator,
  type LabRetentionPolicy,
  labEvaluator,
  labRetentionPolicy,
} from "./peers.ts";
import { shiftTime } from "./shift-time.ts";

export type CatalogClient = GrpcClient<typeof CatalogService>;

/** The catalog over a real database and a real gRPC connection; only its peers are stood in for. */
export interface Lab {
  /** Of the database. */
  readonly url: string;
  readonly deps: CatalogDeps;
  readonly store: FaultyStore;
  readonly evaluator: LabEvaluator;
  readonly policy: LabRetentionPolicy;
  /** A client that calls as this principal. */
  as(principal: Principal): CatalogClient;
  /** The same for who may do what. */
  access(principal: Principal): GrpcClient<typeof AccessService>;
  /** As the person `subject` of tenant `local` in this role. */
  asPerson(subject: string, role?: Role): CatalogClient;
  /** The decisions about a thing as JSON, and the other events about it. */
  decisions(id: string): Promise<Record<string, unknown>[]>;
  events(id: string): Promise<{ subject: string; message: Record<string, unknown> }[]>;
  /** Moves everything stored so far into the past: as if that much time had passed. */
  timePasses(ms: number): Promise<void>;
  metric(name: string): Promise<string>;
  close(): Promise<void>;
}

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MIGRATIONS = join(import.meta.dirname, "..", "..", "migrations");

export const SERVICE_PRINCIPAL: Principal = {
  subject: "retention-policy",
  tenant: "*",
  roles: [],
  kind: "service",
};

export async function openLab(name: string, undoDays = 7): Promise<Lab> {
  const database = await testDatabase({ migrations: MIGRATIONS, name });
  const folder = await mkdtemp(join(tmpdir(), "lapse-catalog-"));
  const log = createLogger({ service: "catalog", level: "silent" });
  const metrics = createMetrics("catalog");
  const pool = createPool({ url: database.url, size: 20, applicationName: name, log });
  const store = faultyStore(await openObjectStore({ kind: "file", path: folder }));
  const evaluator = labEvaluator(pool);
  const policy = labRetentionPolicy();
  const deps: CatalogDeps = {
    pool,
    objectStore: store,
    evaluator,
    retentionPolicy: policy,
    undo: { undoDays, dayMs: DAY_MS },
    holdTtlMs: HOUR_MS,
    log,
    metrics: createCatalogMetrics(metrics),
  };
  const server = createGrpcServer({
    services: [
      [CatalogService, catalogHandlers(deps)],
      [AccessService, accessHandlers(deps)],
    ],
    authenticate: async (token) => {
      const principal = parsePrincipal(JSON.parse(Buffer.from(token, "base64url").toString()));
      if (typeof principal === "string") throw new Error(principal);
      return principal;
    },
    log,
    metrics,
  });
  const port = await server.listen("127.0.0.1", 0);
  const clientsOf = <S extends ServiceDesc>(service: S) => {
    const clients = new Map<string, GrpcClient<S>>();
    const clientOf = (principal: Principal): GrpcClient<S> => {
      const token = Buffer.from(JSON.stringify(principal)).toString("base64url");
      const url = `http://127.0.0.1:${port}`;
      const client =
        clients.get(token) ?? createGrpcClient(service, { url, serviceToken: token, log });
      clients.set(token, client);
      return client;
    };
    return { clients, clientOf };
  };
  const catalog = clientsOf(CatalogService);
  const access = clientsOf(AccessService);
  const as = catalog.clientOf;
  return {
    url: database.url,
    deps,
    store,
    evaluator,
    policy,
    as,
    access: access.clientOf,
    asPerson: (subject, role = "data_engineer") =>
      as({ subject, tenant: "local", roles: [role], kind: "person" }),
    async decisions(id) {
      const events = await writtenEvents(pool, id);
      return events
        .filter(({ subject }) => subject.startsWith("decision."))
        .map(({ message }) => message);
    },
    async events(id) {
      const events = await writtenEvents(pool, id);
      return events.filter(({ subject }) => !subject.startsWith("decision."));
    },
    timePasses: (ms) => shiftTime(pool, ms),
    async metric(metricName) {
      return metrics.registry.getSingleMetricAsString(metricName);
    },
    async close() {
      for (const client of [...catalog.clients.values(), ...access.clients.values()]) {
        client.close();
      }
      await server.stop();
      await pool.end();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A name that no other test has. */
export const aName = (): string => `t_${newId().replaceAll("-", "").slice(8, 24)}`;
