import type { Handlers } from "@lapse/kit";
import type { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import type { EvaluatorDeps } from "../app/deps.ts";
import { expiryHandlers } from "./expiry-handlers.ts";
import { sweepHandlers } from "./sweep-handlers.ts";

/** Everything that `lapse.evaluator.v1.LifecycleEvaluatorService` answers. */
export const evaluatorHandlers = (
  deps: EvaluatorDeps,
): Handlers<typeof LifecycleEvaluatorService> => ({
  ...expiryHandlers(deps),
  ...sweepHandlers(deps),
});
