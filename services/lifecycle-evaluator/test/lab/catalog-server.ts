import {
  type CallContext,
  createAuthenticator,
  createGrpcServer,
  createMetrics,
  type Handlers,
  type Right,
  type ServiceDesc,
} from "@lapse/kit";
import { AccessService, CatalogService } from "@lapse/proto/catalog";
import type { TestTokens } from "@lapse/test-kit";
import { quiet } from "./database.ts";

/** Plays the catalog to those who ask it what somebody may do. */
export interface CatalogServer {
  /** The setting that leads to it. */
  readonly env: Readonly<Record<string, string>>;
  /** Tables that a grant, or a role in the catalog, opens to a subject. */
  readonly opened: Map<string, Set<string>>;
  /** Subjects to whom a role in the catalog opens every table of an environment. */
  readonly readers: Set<string>;
  /** What subjects may do in all of their tenant by roles bound there. */
  readonly tenantRights: Map<string, readonly Right[]>;
  /** Every call so far, and for whom. */
  readonly calls: { readonly method: string; readonly subject: string; readonly asked: number }[];
  readonly stop: () => Promise<void>;
}

export async function serveCatalog(tokens: TestTokens): Promise<CatalogServer> {
  const opened = new Map<string, Set<string>>();
  const readers = new Set<string>();
  const tenantRights = new Map<string, readonly Right[]>();
  const calls: { method: string; subject: string; asked: number }[] = [];
  const note = (method: string, { principal, caller }: CallContext, asked: number) => {
    if (caller.kind !== "service") throw new Error("only services ask");
    calls.push({ method, subject: principal.subject, asked });
    return principal.subject;
  };
  const server = createGrpcServer({
    services: [
      [
        CatalogService,
        {
          ...notServed(CatalogService),
          async batchGetTables({ tables }, call) {
            const subject = note("batchGetTables", call, tables.length);
            const found = tables.flatMap(({ ref }, index) => {
              if (ref.case !== "tableId") throw new Error("asked by name");
              const mayRead = readers.has(subject) || opened.get(subject)?.has(ref.value);
              const table = { tableId: ref.value, rights: ["table.read"] };
              return mayRead ? [{ index, table }] : [];
            });
            return { tables: found };
          },
        },
      ],
      [
        AccessService,
        {
          ...notServed(AccessService),
          async getReadableTables(_request, call) {
            const subject = note("getReadableTables", call, 1);
            if (readers.has(subject)) return { all: true };
            return { tableIds: [...(opened.get(subject) ?? [])] };
          },
          async getTenantRights(_request, call) {
            const subject = note("getTenantRights", call, 1);
            return { rights: [...(tenantRights.get(subject) ?? [])] };
          },
        },
      ],
    ],
    authenticate: createAuthenticator({ publicKey: tokens.publicKey }),
    log: quiet,
    metrics: createMetrics("test-catalog"),
  });
  const port = await server.listen("127.0.0.1", 0);
  server.setServing(true);
  return {
    env: { LAPSE_PEERS__CATALOG_URL: `http://127.0.0.1:${port}` },
    opened,
    readers,
    tenantRights,
    calls,
    stop: () => server.stop(),
  };
}

/** Handlers for the methods that nobody should call. */
function notServed<S extends ServiceDesc>(desc: S): Handlers<S> {
  const refuse = async () => {
    throw new Error("not expected to be called");
  };
  const names = Object.keys(desc.method);
  return Object.fromEntries(names.map((name) => [name, refuse])) as unknown as Handlers<S>;
}
