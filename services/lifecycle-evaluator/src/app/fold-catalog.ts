import type { Queryable } from "@lapse/kit";
import { type Activity, type ActivityTally, tally } from "../domain/activity.ts";
import type { EnvironmentSnapshot, TableSnapshot } from "../domain/changes.ts";
import { clampToNow } from "../domain/event-time.ts";
import type { SweepAnswer } from "../domain/sweep-answer.ts";
import { holdBasis } from "../store/basis.ts";
import { saveEnvironmentSnapshots } from "../store/environments.ts";
import { type AnswerCounts, saveSweepAnswers } from "../store/sweep-answers.ts";
import { saveActivity } from "../store/table-activity.ts";
import { saveTableSnapshots } from "../store/table-snapshots.ts";

/** What one event of the catalog says. */
export interface CatalogChange {
  readonly table?: TableSnapshot;
  readonly environment?: EnvironmentSnapshot;
  /** What in it counts as activity (T13). */
  readonly activities?: readonly Activity[];
  readonly answer?: SweepAnswer;
}

/** What became of a batch. */
export interface CatalogFolded {
  /** Times that were for the future. */
  readonly clamped: number;
  readonly answers: AnswerCounts;
}

/** Folds a batch of catalog events, in any order and as often as they come. */
export async function foldCatalog(
  tx: Queryable,
  changes: readonly CatalogChange[],
): Promise<CatalogFolded> {
  const basis = await holdBasis(tx);
  const now = basis.now.getTime();
  const activities: ActivityTally = new Map();
  let clampedTimes = 0;
  for (const activity of changes.flatMap((change) => change.activities ?? [])) {
    const { at, clamped } = clampToNow(activity.at, now);
    clampedTimes += Number(clamped);
    tally(activities, { ...activity, at });
  }
  await saveActivity(tx, activities, basis);
  await saveTableSnapshots(
    tx,
    changes.flatMap(({ table }) => table ?? []),
  );
  await saveEnvironmentSnapshots(
    tx,
    changes.flatMap(({ environment }) => environment ?? []),
  );
  const answers = await saveSweepAnswers(
    tx,
    changes.flatMap(({ answer }) => answer ?? []),
  );
  return { clamped: clampedTimes, answers };
}
