import { join } from "node:path";
import {
  createGrpcClient,
  createGrpcServer,
  createLogger,
  createMetrics,
  createPool,
  databaseClock,
  fixedClock,
  type GrpcClient,
  type Pool,
  type Principal,
  parsePrincipal,
  type Role,
} from "@lapse/kit";
import { RetentionPolicyService } from "@lapse/proto/policy";
import { REAL_DAY } from "@lapse/rules";
import { testDatabase } from "@lapse/test-kit";
import { policyHandlers } from "../../src/api/handlers.ts";
import type { Evaluator } from "../../src/peers/evaluator.ts";
import { type LabCatalog, labCatalog } from "./catalog.ts";
import { type LabEvaluator, labEvaluator } from "./evaluator.ts";
import { type WrittenEvent, writtenEvents } from "./outbox.ts";

export type PolicyClient = GrpcClient<typeof RetentionPolicyService>;

/** The service over a real database and a real gRPC connection; only its peers are stood in for. */
export interface Lab {
  readonly pool: Pool;
  readonly catalog: LabCatalog;
  readonly evaluator: LabEvaluator;
  /** A client that calls as this principal. */
  as(principal: Principal): PolicyClient;
  /** As a person of tenant `local`, by role; `owner` owns the tables and has no role. */
  readonly people: Readonly<Record<Role | "owner", PolicyClient>>;
  /** As the catalog. */
  readonly service: PolicyClient;
  decisions(id: string): Promise<WrittenEvent["message"][]>;
  events(id: string): Promise<WrittenEvent[]>;
  close(): Promise<void>;
}

export const DAY_MS = 86_400_000;
const MIGRATIONS = join(import.meta.dirname, "..", "..", "migrations");

const person = (subject: string, ...roles: Role[]): Principal => ({
  subject,
  tenant: "local",
  roles,
  kind: "person",
});

/** `at` stands in for the time, `peer` for the stand-in of the evaluator. */
export async function openLab(
  name: string,
  { at, peer }: { at?: () => Date; peer?: Evaluator } = {},
): Promise<Lab> {
  const database = await testDatabase({ migrations: MIGRATIONS, name });
  const log = createLogger({ service: "retention-policy", level: "silent" });
  const pool = createPool({ url: database.url, size: 20, applicationName: name, log });
  const catalog = labCatalog();
  const evaluator = labEvaluator();
  const clock = at ? fixedClock(at) : databaseClock(pool);
  const server = createGrpcServer({
    services: [
      [
        RetentionPolicyService,
        policyHandlers({
          ...{ pool, clock, catalog, dayLength: REAL_DAY },
          evaluator: peer ?? evaluator,
        }),
      ],
    ],
    authenticate: async (token) => {
      const principal = parsePrincipal(JSON.parse(Buffer.from(token, "base64url").toString()));
      if (typeof principal === "string") throw new Error(principal);
      return principal;
    },
    log,
    metrics: createMetrics("retention-policy"),
  });
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  const clients: PolicyClient[] = [];
  const as = (principal: Principal): PolicyClient => {
    const serviceToken = Buffer.from(JSON.stringify(principal)).toString("base64url");
    const client = createGrpcClient(RetentionPolicyService, { url, serviceToken, log });
    clients.push(client);
    return client;
  };
  return {
    pool,
    catalog,
    evaluator,
    as,
    people: {
      owner: as(person("owner")),
      reader: as(person("reader", "reader")),
      writer: as(person("writer", "writer")),
      data_engineer: as(person("data_engineer", "data_engineer")),
      admin: as(person("admin", "admin")),
      superadmin: as(person("superadmin", "superadmin")),
    },
    service: as({ subject: "catalog", tenant: "*", roles: [], kind: "service" }),
    async decisions(id) {
      const events = await writtenEvents(pool, id);
      return events
        .filter(({ subject }) => subject.startsWith("decision."))
        .map(({ message }) => message);
    },
    async events(id) {
      const events = await writtenEvents(pool, id);
      return events.filter(({ subject }) => subject.startsWith("policy."));
    },
    async close() {
      for (const client of clients) client.close();
      await server.stop();
      await pool.end();
      await database.drop();
    },
  };
}
