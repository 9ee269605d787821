import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  createGrpcServer,
  type GrpcServer,
  type Handlers,
  type Logger,
  type Metrics,
  type Principal,
  type ServiceDesc,
  unavailable,
} from "@lapse/kit";
import { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { RetentionPolicyService } from "@lapse/proto/policy";
import type { LabEvaluator, LabRetentionPolicy } from "./peers.ts";

/** Handlers that answer what is given and nothing else. */
function only<S extends ServiceDesc>(given: Partial<Handlers<S>>): Handlers<S> {
  const refuse = async () => {
    throw unavailable("NOT_IN_THIS_TEST", "the stand-in does not answer this");
  };
  return new Proxy(given, {
    get: (target, method) => Reflect.get(target, method) ?? refuse,
  }) as Handlers<S>;
}

/** The catalog's peers over gRPC, both at one address. */
export function stubPeers(
  { evaluator, policy }: { evaluator: LabEvaluator; policy: LabRetentionPolicy },
  { log, metrics }: { log: Logger; metrics: Metrics },
): GrpcServer {
  const service: Principal = { subject: "catalog", tenant: "*", roles: [], kind: "service" };
  return createGrpcServer({
    services: [
      [
        LifecycleEvaluatorService,
        only<typeof LifecycleEvaluatorService>({
          async confirmTablesDue({ tableIds }) {
            const confirmed = await evaluator.confirmTablesDue(tableIds);
            return {
              confirmations: [...confirmed].map(([tableId, { due, seen, retention }]) => ({
                tableId,
                due,
                seen,
                expiry: retention && {
                  tableId,
                  source: retention.source,
                  setBy: retention.setBy,
                  rule: {
                    rule:
                      retention.rule.kind === "days"
                        ? { case: "days" as const, value: retention.rule.days }
                        : { case: "on" as const, value: retention.rule.on },
                  },
                  lastActivityAt: timestampFromDate(retention.lastActivityAt),
                  expiresAt: timestampFromDate(retention.expiredAt),
                },
              })),
            };
          },
        }),
      ],
      [
        RetentionPolicyService,
        only<typeof RetentionPolicyService>({
          async settleTableRetention(request) {
            await policy.settleTable(request);
            return {};
          },
          async settleEnvironmentRetention(request) {
            await policy.settleEnvironment(request);
            return {};
          },
        }),
      ],
    ],
    authenticate: async () => service,
    log,
    metrics,
  });
}
