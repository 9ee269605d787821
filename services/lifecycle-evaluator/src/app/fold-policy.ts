import type { Queryable } from "@lapse/kit";
import type { EnvironmentRuleChange, TableRuleChange } from "../domain/changes.ts";
import { holdBasis } from "../store/basis.ts";
import { saveEnvironmentRules } from "../store/environments.ts";
import { saveTableRules } from "../store/table-rules.ts";

/** What one event of retention-policy says. */
export interface PolicyChange {
  readonly table?: TableRuleChange;
  readonly environment?: EnvironmentRuleChange;
}

/** Folds a batch of policy events, in any order and as often as they come. */
export async function foldPolicy(tx: Queryable, changes: readonly PolicyChange[]): Promise<void> {
  const basis = await holdBasis(tx);
  await saveTableRules(
    tx,
    changes.flatMap(({ table }) => table ?? []),
    basis,
  );
  await saveEnvironmentRules(
    tx,
    changes.flatMap(({ environment }) => environment ?? []),
  );
}
