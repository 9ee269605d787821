import { notFound, withTransaction } from "@lapse/kit";
import type { Hold } from "../domain/hold.ts";
import { requirePresent } from "../domain/table-changes.ts";
import { extendHold } from "../store/holds.ts";
import { transactionTime } from "../store/now.ts";
import { AccessDenied, requireTableRight, tableResource } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { withRightsOn } from "./effective-rights.ts";
import { isHolder, lockHeldTable } from "./find-hold.ts";
import { unlessRefused } from "./refused.ts";

/**
 * The holder's heartbeat: the hold lasts its full time again from now. Ordered against a drop like a new hold, so a
 * renewal that succeeds has kept the table. Who lost the right to write meanwhile keeps nothing any longer.
 *
 * @throws not_found `HOLD_ENDED`: the table may be gone, take a new hold; precondition `TABLE_DROPPED`.
 */
export const renewHold = (deps: CatalogDeps, caller: Caller, holdId: string): Promise<Hold> =>
  recordingRefusals(deps, caller, () =>
    withTransaction(deps.pool, async (tx) => {
      const { principal } = caller;
      const held = await lockHeldTable(tx, principal, holdId);
      if (!held) throw holdEnded(holdId);
      if (!isHolder(principal, held.hold)) {
        throw new AccessDenied(principal, "table.write", tableResource(held.entry));
      }
      unlessRefused(requirePresent(held.entry.table));
      const enough = "table.write";
      const entry = await withRightsOn(tx, principal, held.entry, { enough });
      requireTableRight(principal, entry, enough);
      const now = await transactionTime(tx);
      const expiresAt = new Date(now.getTime() + deps.holdTtlMs);
      const renewed = await extendHold(tx, { holdId, now, expiresAt });
      if (!renewed) throw holdEnded(holdId);
      return renewed;
    }),
  );

const holdEnded = (holdId: string) =>
  notFound(
    "HOLD_ENDED",
    `hold ${holdId} has ended; see whether the table is still there and take a new hold`,
  );
