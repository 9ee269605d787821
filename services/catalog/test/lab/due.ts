import { newId } from "@lapse/kit";
import type { Table } from "@lapse/proto/catalog";
import type { DueEvent } from "../../src/app/due-event.ts";
import type { DueTable } from "../../src/domain/due.ts";
import { transactionTime } from "../../src/store/now.ts";
import type { Lab } from "./lab.ts";

/** A due event that agrees with what the catalog says of the table now. */
export async function dueNow(
  lab: Lab,
  table: Table,
  patch: Partial<DueTable> = {},
): Promise<DueEvent & { due: DueTable }> {
  return {
    due: {
      tableId: table.tableId,
      tenant: table.tenant,
      environmentId: table.environmentId,
      sweepId: newId(),
      changeVersion: table.changeVersion,
      retentionVersion: table.retentionVersion,
      policyVersion: table.environmentPolicyVersion,
      issuedAt: await transactionTime(lab.deps.pool),
      ...patch,
    },
  };
}
