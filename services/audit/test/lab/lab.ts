import { fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import {
  createGrpcClient,
  createGrpcServer,
  createMetrics,
  type GrpcClient,
  type GrpcServer,
  onNotify,
  type Principal,
  parsePrincipal,
  type Right,
  type Role,
} from "@lapse/kit";
import { AuditService } from "@lapse/proto/audit";
import { DecisionSchema } from "@lapse/proto/events";
import { auditHandlers } from "../../src/api/handlers.ts";
import { APPENDED_CHANNEL, appendDecisions } from "../../src/app/append-decisions.ts";
import { createAppendSignal } from "../../src/app/append-signal.ts";
import type { Decision, DecisionRecord } from "../../src/domain/decision.ts";
import type { Catalog } from "../../src/peers/catalog.ts";
import { type AuditDatabase, auditDatabase, SILENT } from "./database.ts";

export type AuditClient = GrpcClient<typeof AuditService>;

/** The service over a real database and a real gRPC connection. */
export interface Lab extends AuditDatabase {
  readonly server: GrpcServer;
  /** What subjects may do in all of their tenant by roles bound there, as the catalog says. */
  readonly tenantRights: Map<string, readonly Right[]>;
  as(principal: Principal): AuditClient;
  /** A person of the tenant in this role. */
  person(tenant: string, role: Role): AuditClient;
  append(...decisions: Decision[]): Promise<readonly DecisionRecord[]>;
  /** What this service itself decided, from its outbox. */
  ownDecisions(): Promise<JsonObject[]>;
  close(): Promise<void>;
}

/** `catalog`: who is asked for rights in place of {@link Lab.tenantRights}. */
export async function openLab(
  name: string,
  given: { readonly catalog?: Catalog } = {},
): Promise<Lab> {
  const database = await auditDatabase(name);
  const { pool } = database;
  const appended = createAppendSignal();
  const listener = onNotify(pool, APPENDED_CHANNEL, (tenant) => appended.raise(tenant), {
    log: SILENT,
  });
  const tenantRights = new Map<string, readonly Right[]>();
  const catalog: Catalog = given.catalog ?? {
    getTenantRights: async ({ principal }) => tenantRights.get(principal.subject) ?? [],
  };
  const server = createGrpcServer({
    services: [[AuditService, auditHandlers({ pool, appended, catalog })]],
    authenticate: async (token) => {
      const principal = parsePrincipal(JSON.parse(Buffer.from(token, "base64url").toString()));
      if (typeof principal === "string") throw new Error(principal);
      return principal;
    },
    log: SILENT,
    metrics: createMetrics("audit"),
    drainMs: 2_000,
  });
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  const clients: AuditClient[] = [];
  const as = (principal: Principal): AuditClient => {
    const serviceToken = Buffer.from(JSON.stringify(principal)).toString("base64url");
    const client = createGrpcClient(AuditService, { url, serviceToken, log: SILENT });
    clients.push(client);
    return client;
  };
  return {
    ...database,
    server,
    tenantRights,
    as,
    person: (tenant, role) => as({ subject: role, tenant, roles: [role], kind: "person" }),
    async append(...decisions) {
      const { records } = await appendDecisions(pool, decisions, async () => {});
      return records;
    },
    async ownDecisions() {
      const { rows } = await pool.query<{ body: Buffer }>(
        "select body from lapse_kit.outbox order by position",
      );
      return rows.map(
        ({ body }) => toJson(DecisionSchema, fromBinary(DecisionSchema, body)) as JsonObject,
      );
    },
    async close() {
      for (const client of clients) client.close();
      await server.stop();
      await listener.stop();
      await database.drop();
    },
  };
}
