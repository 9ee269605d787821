import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Authenticate,
  type CallContext,
  createGrpcServer,
  createLogger,
  createMetrics,
  type GrpcServer,
  type Handlers,
  type ServiceDesc,
  unavailable,
} from "@lapse/kit";
import {
  CatalogService,
  type EnvironmentRef,
  type EnvironmentSchema,
  type TableRef,
  type TableSchema,
} from "@lapse/proto/catalog";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { TableKind, TableState } from "@lapse/proto/events";
import type { Environment, Table } from "../../src/domain/table.ts";
import type { LabCatalog } from "./catalog.ts";
import type { LabEvaluator } from "./evaluator.ts";

/** The stand-ins of the peers behind gRPC servers, as the service reaches them. */
export interface PeerServers {
  readonly url: string;
  /** For whom the last call was. */
  lastCall(): CallContext | undefined;
  stop(): Promise<void>;
}

export async function servePeers(
  catalog: LabCatalog,
  evaluator: LabEvaluator,
  authenticate: Authenticate,
): Promise<PeerServers> {
  let last: CallContext | undefined;
  const noted = (call: CallContext) => {
    last = call;
    return call;
  };
  const catalogHandlers: Handlers<typeof CatalogService> = {
    ...notServed(CatalogService),
    getTable: async ({ table }, call) => ({
      table: toMessage(await catalog.getTable(idOf(table), noted(call))),
    }),
    touchTable: async ({ table }, call) => ({
      table: toMessage(await catalog.touchTable(idOf(table), noted(call))),
    }),
    async getEnvironment({ environment }, call) {
      return {
        environment: toEnvironmentMessage(
          await catalog.getEnvironment(idOf(environment), noted(call)),
        ),
      };
    },
    async listEnvironments({ cursor }, call) {
      // A page each, so that whoever asks must go on.
      const ids = await catalog.visibleEnvironments(noted(call));
      const at = cursor === "" ? 0 : Number(cursor);
      const environments = ids.slice(at, at + 1).map((environmentId) => ({ environmentId }));
      return { environments, nextCursor: at + 1 < ids.length ? String(at + 1) : "" };
    },
    async touchEnvironment({ environment }, call) {
      return {
        environment: toEnvironmentMessage(
          await catalog.touchEnvironment(idOf(environment), noted(call)),
        ),
      };
    },
  };
  const evaluatorHandlers: Handlers<typeof LifecycleEvaluatorService> = {
    ...notServed(LifecycleEvaluatorService),
    async getTableExpiry({ tableId, atLeast, consistent }, call) {
      if (!atLeast || !consistent) throw new Error("the answer may be anything");
      const answer = await evaluator.expiryNow(tableId, atLeast, noted(call));
      if (answer === null) throw unavailable("EVALUATOR_BEHIND", "the streams are not folded yet");
      const { lastActivityAt, expiresAt } = answer;
      return {
        expiry: {
          tableId,
          ...(lastActivityAt && { lastActivityAt: timestampFromDate(lastActivityAt) }),
          ...(expiresAt && { expiresAt: timestampFromDate(expiresAt) }),
        },
      };
    },
  };
  const server: GrpcServer = createGrpcServer({
    services: [
      [CatalogService, catalogHandlers],
      [LifecycleEvaluatorService, evaluatorHandlers],
    ],
    authenticate,
    log: createLogger({ service: "peers", level: "silent" }),
    metrics: createMetrics("peers"),
  });
  const url = `http://127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  return { url, lastCall: () => last, stop: () => server.stop() };
}

/** Handlers for the methods that nobody should call. */
function notServed<S extends ServiceDesc>(desc: S): Handlers<S> {
  const refuse = async () => {
    throw new Error("not expected to be called");
  };
  const names = Object.keys(desc.method);
  return Object.fromEntries(names.map((name) => [name, refuse])) as unknown as Handlers<S>;
}

function idOf(ref: TableRef | EnvironmentRef | undefined): string {
  switch (ref?.ref.case) {
    case "tableId":
    case "environmentId":
      return ref.ref.value;
    default:
      throw new Error("asked by name");
  }
}

const KINDS = {
  managed: TableKind.MANAGED,
  view: TableKind.VIEW,
  external: TableKind.EXTERNAL,
  artifact: TableKind.ARTIFACT,
};
const STATES = {
  staged: TableState.STAGED,
  live: TableState.LIVE,
  dropped: TableState.DROPPED,
  purging: TableState.PURGING,
  purged: TableState.PURGED,
};

function toEnvironmentMessage({
  id,
  rights,
  ...rest
}: Environment): MessageInitShape<typeof EnvironmentSchema> {
  return { ...rest, environmentId: id, rights: [...rights] };
}

function toMessage(table: Table): MessageInitShape<typeof TableSchema> {
  const { id, kind, state, lastChangedAt, restoredAt, name: path, rights, ...rest } = table;
  const dot = path.lastIndexOf(".");
  return {
    ...rest,
    tableId: id,
    rights: [...rights],
    namespace: path.slice(0, dot),
    name: path.slice(dot + 1),
    kind: KINDS[kind],
    state: STATES[state],
    lastChangedAt: timestampFromDate(lastChangedAt),
    ...(restoredAt && { restoredAt: timestampFromDate(restoredAt) }),
  };
}
