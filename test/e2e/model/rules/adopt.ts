import type { Seen, SeenExpiry } from "./seen.ts";
import { exactly } from "./span.ts";
import type { EnvironmentModel, TableModel } from "./state.ts";

/** The model with every instant as the system has it, now that the two are the same. */
export function adopt(model: EnvironmentModel, seen: Seen): EnvironmentModel {
  const { retention } = model;
  return {
    ...model,
    retention:
      retention && seen.retention
        ? { ...retention, setAt: exactly(seen.retention.setAt) }
        : retention,
    decisions: [],
    tables: model.tables.map((table) => {
      const is = seen.tables.find(({ tableId }) => tableId === table.tableId);
      const expiry = seen.expiries.get(table.tableId);
      if (is === undefined) return table;
      return {
        ...table,
        createdAt: exactly(is.createdAt),
        changedAt: exactly(is.changedAt),
        restoredAt: is.restoredAt === null ? null : exactly(is.restoredAt),
        drop: table.drop &&
          is.drop && {
            ...table.drop,
            at: exactly(is.drop.at),
            undoUntil: exactly(is.drop.undoUntil),
          },
        ...(expiry && adoptExpiry(table, expiry)),
      };
    }),
  };
}

function adoptExpiry(table: TableModel, seen: SeenExpiry): Partial<TableModel> {
  const { ownRule } = table;
  return {
    activity: [{ at: exactly(seen.lastActivityAt ?? 0), kind: seen.lastActivityKind }],
    ownRule:
      ownRule && seen.source === "table" && seen.setAt !== null
        ? { ...ownRule, setAt: exactly(seen.setAt) }
        : ownRule,
  };
}
