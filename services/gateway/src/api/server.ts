import { type FastifyBaseLogger, fastify, LogController } from "fastify";
import { serializerCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { apiKeyRoutes } from "./access/api-keys.ts";
import { roleRoutes } from "./access/roles.ts";
import { tableAccessRoutes } from "./access/table-access.ts";
import { activityRoutes } from "./activity/report.ts";
import { auditRoutes } from "./audit/decisions.ts";
import { auditStreamRoutes } from "./audit/stream.ts";
import { environmentRoutes } from "./environments/environments.ts";
import { expiringTableRoutes } from "./environments/expiring-tables.ts";
import { namespaceRoutes } from "./environments/namespaces.ts";
import { projectRoutes } from "./environments/projects.ts";
import { environmentRetentionRoutes } from "./environments/retention.ts";
import type { Api, ApiDeps } from "./http/api.ts";
import { readJsonOnly } from "./http/body-parser.ts";
import { closeConnectionsWhenStopping } from "./http/connections.ts";
import { answerMalformed } from "./http/malformed-requests.ts";
import { documentApi } from "./http/openapi.ts";
import { refuseOtherMethods } from "./http/other-methods.ts";
import { answerProblems, sendProblem } from "./http/problems.ts";
import { requestId, requirePrincipal, traceRequests } from "./http/request-call.ts";
import { observeRequests } from "./http/request-log.ts";
import { secureAnswers } from "./http/security-headers.ts";
import { validatorCompiler } from "./http/validation.ts";
import { answerIcebergErrors } from "./iceberg/errors.ts";
import { icebergMetricsRoutes } from "./iceberg/metrics.ts";
import { parkedRoutes } from "./operations/parked.ts";
import { statusRoutes } from "./operations/status.ts";
import { sweepHoldRoutes } from "./sweeps/holds.ts";
import { sweepRoutes } from "./sweeps/sweeps.ts";
import { collectionRoutes } from "./tables/collection.ts";
import { commitRoutes } from "./tables/commits.ts";
import { droppedTableRoutes } from "./tables/dropped.ts";
import { holdRoutes } from "./tables/holds.ts";
import { tableReadingRoutes } from "./tables/reading.ts";
import { tableRetentionRoutes } from "./tables/retention.ts";
import { tableRoutes } from "./tables/tables.ts";

const ROUTES = [
  environmentRoutes,
  namespaceRoutes,
  projectRoutes,
  environmentRetentionRoutes,
  expiringTableRoutes,
  collectionRoutes,
  tableRoutes,
  tableRetentionRoutes,
  tableReadingRoutes,
  commitRoutes,
  holdRoutes,
  droppedTableRoutes,
  tableAccessRoutes,
  roleRoutes,
  apiKeyRoutes,
  activityRoutes,
  sweepRoutes,
  sweepHoldRoutes,
  auditRoutes,
  auditStreamRoutes,
  statusRoutes,
  parkedRoutes,
];

const MAX_BODY = 1024 * 1024;
/** A request has to arrive within this; the time to answer it is not limited. */
const ARRIVAL_MS = 60_000;

/** The HTTP server with every route, ready to listen. */
export async function createServer(deps: ApiDeps): Promise<Api> {
  const api: Api = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    genReqId: ({ headers }) => requestId(headers),
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "request_id",
    }),
    bodyLimit: MAX_BODY,
    requestTimeout: ARRIVAL_MS,
    routerOptions: { maxParamLength: 4_096 },
    // What arrives on an open connection while stopping is still answered.
    return503OnClosing: false,
    clientErrorHandler: answerMalformed,
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  api.setValidatorCompiler(validatorCompiler);
  api.setSerializerCompiler(serializerCompiler);
  readJsonOnly(api);
  traceRequests(api);
  secureAnswers(api);
  closeConnectionsWhenStopping(api);
  observeRequests(api, deps.metrics);
  answerProblems(api);
  await documentApi(api);
  const closeRoutes = refuseOtherMethods(api);
  await api.register(
    async (v1: Api) => {
      requirePrincipal(v1, deps.authenticate);
      for (const addRoutes of ROUTES) addRoutes(v1, deps);
    },
    { prefix: "/api/v1" },
  );
  await api.register(
    async (iceberg: Api) => {
      answerIcebergErrors(iceberg);
      requirePrincipal(iceberg, deps.authenticate);
      icebergMetricsRoutes(iceberg, deps);
    },
    { prefix: "/v1" },
  );
  closeRoutes();
  return api;
}
