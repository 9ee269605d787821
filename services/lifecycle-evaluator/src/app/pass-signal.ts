import type { StreamHead } from "../domain/fence.ts";
import type { EvaluatorDeps } from "./deps.ts";
import type { FenceOptions } from "./fence.ts";
import { awaitMissingEvents } from "./missing-events.ts";

/**
 * Makes sure that everything that had reached the streams at the call counts and that nothing known to have
 * been said is missing; says where the streams were. Only then may anything be called due.
 *
 * @throws unavailable `BROKER_UNREACHABLE`, `EVALUATOR_BEHIND`, `SIGNAL_MISSING` within `timeoutMs`
 */
export async function passSignal(
  { pool, fence }: Pick<EvaluatorDeps, "pool" | "fence">,
  { timeoutMs, signal }: FenceOptions,
): Promise<readonly StreamHead[]> {
  const started = performance.now();
  const heads = await fence.pass({ timeoutMs, signal });
  const left = Math.max(0, timeoutMs - (performance.now() - started));
  await awaitMissingEvents(pool, { timeoutMs: left, signal });
  return heads;
}
