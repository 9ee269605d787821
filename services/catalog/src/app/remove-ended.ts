import { deleteOldAnswers } from "../store/due-answers.ts";
import { countActiveHolds, deleteEndedHolds } from "../store/holds.ts";
import { transactionTime } from "../store/now.ts";
import { purgeBacklog } from "../store/purges.ts";
import type { CatalogDeps } from "./deps.ts";

const PAGE = 1_000;
/** Longer than the broker keeps a due event, so that none can come again unrecognised. */
const ANSWERS_KEPT_MS = 7 * 86_400_000;

/** Removes holds that have ended; a crashed writer's ends after its time without a heartbeat (T21). */
export async function removeEndedHolds(deps: CatalogDeps, signal: AbortSignal): Promise<void> {
  await untilFewer(signal, () => deleteEndedHolds(deps.pool, PAGE));
}

/** Forgets the answers to due events that cannot be delivered again. */
export async function forgetOldAnswers(deps: CatalogDeps, signal: AbortSignal): Promise<void> {
  const before = new Date((await transactionTime(deps.pool)).getTime() - ANSWERS_KEPT_MS);
  await untilFewer(signal, () => deleteOldAnswers(deps.pool, before, PAGE));
}

/** Shows how many holds there are and how many purges wait. */
export async function measureBacklog({ pool, metrics }: CatalogDeps): Promise<void> {
  metrics.setActiveHolds(await countActiveHolds(pool));
  const { waiting, failing } = await purgeBacklog(pool);
  metrics.setPurges("waiting", waiting);
  metrics.setPurges("failing", failing);
}

async function untilFewer(signal: AbortSignal, removePage: () => Promise<number>): Promise<void> {
  let removed = PAGE;
  while (removed === PAGE && !signal.aborted) removed = await removePage();
}
