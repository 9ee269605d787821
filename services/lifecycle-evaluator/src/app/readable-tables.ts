import { type CallContext, hasRight } from "@lapse/kit";
import type { TableFacts } from "../domain/table-facts.ts";
import type { ReadableTables } from "../store/due-tables.ts";
import { ownsTableIn } from "../store/table-facts.ts";
import { belongsTo, refuse } from "./authorise.ts";
import type { EvaluatorDeps } from "./deps.ts";

/**
 * Which tables of an environment the caller may read, to be told apart before a list is cut into pages (T11);
 * undefined: all. Who may read none may not know the environment either.
 *
 * @throws denied `RIGHT_MISSING`; unavailable where the catalog cannot be asked
 */
export async function readableTables(
  deps: Pick<EvaluatorDeps, "pool" | "catalog">,
  { environmentId, name }: { readonly environmentId: string; readonly name: string },
  call: CallContext,
): Promise<ReadableTables | undefined> {
  const { principal } = call;
  if (hasRight(principal, "table.read")) {
    return undefined;
  }
  const granted = await deps.catalog.getReadableTables(environmentId, call);
  if (granted === "all") {
    return undefined;
  }
  const owner = principal.subject;
  if (granted.length === 0 && !(await ownsTableIn(deps.pool, environmentId, owner))) {
    await refuse(deps, call, "table.read", {
      kind: "environment",
      id: environmentId,
      name,
      environment: name,
    });
  }
  return { owner, granted };
}

/**
 * Those of some tables that the caller may read (T12). The catalog is asked once, about those that neither its token
 * nor ownership opens.
 *
 * @throws unavailable where the catalog cannot be asked
 */
export async function keepReadable(
  { catalog }: Pick<EvaluatorDeps, "catalog">,
  tables: readonly TableFacts[],
  call: CallContext,
): Promise<readonly TableFacts[]> {
  const { principal } = call;
  const own = tables.filter(({ tenant }) => belongsTo(principal, tenant));
  const isOpen = ({ owner }: TableFacts) => hasRight(principal, "table.read", { owner });
  const asked = own.filter((table) => !isOpen(table)).map(({ tableId }) => tableId);
  const rights = asked.length === 0 ? new Map() : await catalog.getTableRights(asked, call);
  return own.filter(
    (table) => isOpen(table) || rights.get(table.tableId)?.includes("table.read") === true,
  );
}
