import { type Aim, type Operation, SLOTS, type Target } from "../rules/operation.ts";
import type { DroppedTable, Subject } from "./subject.ts";

type Aimed = Extract<Operation, { target: unknown }>;

/** Those that take an id only. */
const BY_ID: readonly Operation["kind"][] = ["setRetention", "touchTable"];
/** Those that a writer does before its first commit too. */
const ALSO_STAGED: readonly Operation["kind"][] = ["setRetention", "touchTable", "commit", "hold"];

/** What an operation on a table is aimed at; undefined where there is nothing. */
export function aimOf(subject: Subject, { kind, target }: Aimed): Aim | undefined {
  const { tableIds, idOf } = subject;
  const dropped = kind === "undrop" ? subject.dropped() : [];
  if (dropped.length > 0) return aimAtDropped(dropped, target);
  const id = (tableId: string | undefined): Aim | undefined =>
    tableId === undefined ? undefined : { by: "id", tableId };
  if (target.by === "id") {
    return id(tableIds.at(-1 - (target.nth % Math.max(1, tableIds.length))));
  }
  const slot = SLOTS[target.slot] ?? SLOTS[0];
  if (BY_ID.includes(kind)) return id(idOf(slot.namespace, slot.name) ?? tableIds.at(-1));
  const known = ALSO_STAGED.includes(kind) ? idOf(slot.namespace, slot.name) : undefined;
  return known === undefined ? { by: "name", ...slot } : { by: "id", tableId: known };
}

/** At one of those that can be brought back, as far as there are any. */
function aimAtDropped(dropped: readonly DroppedTable[], target: Target): Aim | undefined {
  const nth = target.by === "name" ? target.slot : target.nth;
  const table = dropped.at(-1 - (nth % dropped.length));
  if (table === undefined) return undefined;
  const { tableId, namespace, name } = table;
  return target.by === "name" ? { by: "name", namespace, name } : { by: "id", tableId };
}

/** The hold that an operation is about, as far as there are any. */
export function holdOf({ holdIds }: Subject, operation: Operation): string | undefined {
  if (!("hold" in operation) || operation.hold === null || holdIds.length === 0) return undefined;
  return holdIds.at(-1 - (operation.hold % holdIds.length));
}

/** As the catalog is told of it. */
export function refTo({ environment }: Subject, aim: Aim | undefined) {
  return {
    table: {
      ref:
        aim?.by === "name"
          ? {
              case: "name" as const,
              value: { environment, namespace: aim.namespace, name: aim.name },
            }
          : { case: "tableId" as const, value: idIn(aim) },
    },
  };
}

/** The id, where it is aimed at by one. */
export const idIn = (aim: Aim | undefined): string => (aim?.by === "id" ? aim.tableId : "");
