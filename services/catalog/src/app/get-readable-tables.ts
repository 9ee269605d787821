import { exhausted } from "@lapse/kit";
import { grantedTables } from "../store/readable-tables.ts";
import { type Caller, recordingRefusals } from "./call.ts";
import type { CatalogDeps } from "./deps.ts";
import { requireVisibleEnvironment } from "./find-environment.ts";

/** As many ids as one message takes with room to spare. */
const MOST = 50_000;

/** Which tables of an environment the principal may read besides those that it owns. */
export interface ReadableTables {
  /** All of them, by a role; then no ids are given. */
  readonly all: boolean;
  readonly tableIds: readonly string[];
}

/**
 * What authorises a list of another service before it is paged.
 *
 * @throws as `requireVisibleEnvironment`; exhausted `TOO_MANY_GRANTS` for who should have a role instead.
 */
export const getReadableTables = (
  deps: CatalogDeps,
  caller: Caller,
  environmentId: string,
): Promise<ReadableTables> =>
  recordingRefusals(deps, caller, async () => {
    const [{ pool }, { principal }] = [deps, caller];
    const ref = { kind: "id", environmentId } as const;
    const { rights } = await requireVisibleEnvironment(pool, principal, ref);
    if (rights.includes("table.read")) return { all: true, tableIds: [] };
    const tableIds = await grantedTables(pool, principal, { environmentId, limit: MOST + 1 });
    if (tableIds.length > MOST) {
      throw exhausted(
        "TOO_MANY_GRANTS",
        `${principal.subject} has grants on more than ${MOST} tables of one environment; give it a role there instead`,
      );
    }
    return { all: false, tableIds };
  });
