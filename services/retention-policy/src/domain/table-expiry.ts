import {
  type DayLength,
  type EnvironmentRetention,
  type Expiry,
  expiryOf,
  later,
  type TableRetention,
} from "@lapse/rules";
import type { Table } from "./table.ts";

/** What decides when a table expires, but the table itself. */
export interface Rules {
  readonly tableRule: TableRetention | null;
  readonly environmentRule: EnvironmentRetention | null;
  readonly dayLength: DayLength;
}

/** When a table expires that was last active at `lastActivityAt`. */
export function tableExpiry(table: Table, rules: Rules, lastActivityAt: Date): Expiry {
  const { kind, restoredAt, environmentProtected, projectAsset } = table;
  return expiryOf({
    kind,
    restoredAt,
    environmentProtected,
    projectAsset,
    lastActivityAt,
    ...rules,
  });
}

/**
 * The table's last activity once it is touched at `touchedAt`: a read may be dated up to five minutes ahead
 * of the clock (T14), and is then later than the touch.
 */
export function lastActivityAfter(former: Date | null, touchedAt: Date): Date {
  return former === null ? touchedAt : later(former, touchedAt);
}
