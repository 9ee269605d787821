import { isHeld } from "./expiry.ts";
import { all, DAY_MS, exactly, hasCome, not, plus, type Span } from "./span.ts";
import {
  type EnvironmentModel,
  type SetRule,
  type TableModel,
  tableOf,
  withDecision,
} from "./state.ts";
import { givenUp, purged } from "./tables.ts";

/** Everything that happened is so many days longer ago. */
export function daysPass(model: EnvironmentModel, days: number): EnvironmentModel {
  const ago = (span: Span): Span => plus(span, -days * DAY_MS);
  const rule = (set: SetRule): SetRule => ({
    ...set,
    setAt: ago(set.setAt),
    rule:
      set.rule.kind === "on"
        ? { kind: "on", midnight: set.rule.midnight - days * DAY_MS }
        : set.rule,
  });
  const table = (each: TableModel): TableModel => ({
    ...each,
    createdAt: ago(each.createdAt),
    changedAt: ago(each.changedAt),
    restoredAt: each.restoredAt && ago(each.restoredAt),
    activity: each.activity.map(({ at, kind }) => ({ at: ago(at), kind })),
    ownRule: each.ownRule && rule(each.ownRule),
    drop: each.drop && {
      ...each.drop,
      at: ago(each.drop.at),
      undoUntil: ago(each.drop.undoUntil),
    },
    holds: each.holds.map((hold) => ({ ...hold, until: ago(hold.until) })),
  });
  const { retention } = model;
  return {
    ...model,
    retention: retention && { ...retention, setAt: ago(retention.setAt) },
    tables: model.tables.map(table),
  };
}

/**
 * What is past its time has gone: dropped tables after their undo period (T30), staged ones without a commit after a day,
 * unless somebody holds them.
 */
export function purgesDone(model: EnvironmentModel, now: Span): readonly EnvironmentModel[] {
  let models: readonly EnvironmentModel[] = [model];
  for (const { tableId } of model.tables) {
    models = models.flatMap((each) => purgeDone(each, tableId, now));
  }
  return models;
}

function purgeDone(
  model: EnvironmentModel,
  tableId: string,
  now: Span,
): readonly EnvironmentModel[] {
  const table = tableOf(model, tableId);
  if (table === undefined) return [model];
  const [over, after] =
    table.state === "dropped"
      ? [hasCome(table.drop?.undoUntil ?? exactly(0), now), undoOver(model, table)]
      : table.state === "staged"
        ? [
            all(hasCome(plus(table.createdAt, DAY_MS), now), not(isHeld(table, now))),
            givenUp(model, table),
          ]
        : ["no" as const, model];
  return [...(over === "yes" ? [] : [model]), ...(over === "no" ? [] : [after])];
}

const undoOver = (model: EnvironmentModel, table: TableModel): EnvironmentModel =>
  withDecision(purged(model, table), {
    type: "TABLE_PURGED",
    resource: table.tableId,
    actor: "",
    reason: "undo_period_over",
    details: { drop_reason: table.drop?.reason },
  });
