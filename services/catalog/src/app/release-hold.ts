import { withTransaction } from "@lapse/kit";
import { deleteHold } from "../store/holds.ts";
import { requireTableRight } from "./access.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { withRightsOn } from "./effective-rights.ts";
import { isHolder, lockHeldTable } from "./find-hold.ts";

/** Ends a hold: its holder, or whoever may drop the table. One that has ended before is fine. */
export const releaseHold = (deps: CatalogDeps, caller: Caller, holdId: string): Promise<void> =>
  recordingRefusals(deps, caller, () =>
    withTransaction(deps.pool, async (tx) => {
      const { principal } = caller;
      const held = await lockHeldTable(tx, principal, holdId);
      if (!held) return;
      if (!isHolder(principal, held.hold)) {
        const enough = "table.drop";
        const entry = await withRightsOn(tx, principal, held.entry, { enough });
        requireTableRight(principal, entry, enough);
      }
      await deleteHold(tx, held.hold);
    }),
  );
