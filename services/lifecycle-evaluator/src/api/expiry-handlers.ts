import type { Handlers } from "@lapse/kit";
import type { LifecycleEvaluatorService } from "@lapse/proto/evaluator";
import { batchGetTableExpiry } from "../app/batch-get-table-expiry.ts";
import { confirmTablesDue } from "../app/confirm-tables-due.ts";
import type { EvaluatorDeps } from "../app/deps.ts";
import { getTableExpiry } from "../app/get-table-expiry.ts";
import { getTableReads } from "../app/get-table-reads.ts";
import { listExpiringTables } from "../app/list-expiring-tables.ts";
import { readDueCursor, writeDueCursor } from "./cursor.ts";
import {
  type Faults,
  parsed,
  parseId,
  parseLimit,
  parseVersions,
  parseWhole,
  parseWindow,
} from "./parse.ts";
import { renderExpiry, renderReads } from "./render.ts";

/** Tables that one call may ask for. */
const MOST_TABLES = 1_000;

type ExpiryHandlers = Pick<
  Handlers<typeof LifecycleEvaluatorService>,
  | "getTableExpiry"
  | "batchGetTableExpiry"
  | "listExpiringTables"
  | "confirmTablesDue"
  | "getTableReads"
>;

/** When tables expire, and who reads them. */
export const expiryHandlers = (deps: EvaluatorDeps): ExpiryHandlers => ({
  async getTableExpiry(request, call) {
    const wanted = parsed((faults) => ({
      tableId: parseId(faults, "/table_id", request.tableId),
      atLeast: parseVersions(request.atLeast),
      consistent: request.consistent,
    }));
    return { expiry: renderExpiry(await getTableExpiry(deps, wanted, call)) };
  },

  async batchGetTableExpiry(request, call) {
    const wanted = parsed((faults) => {
      parseCount(faults, "/tables", request.tables.length);
      return new Map(
        request.tables.map(({ tableId, atLeast }, index) => [
          parseId(faults, `/tables/${index}/table_id`, tableId),
          parseVersions(atLeast),
        ]),
      );
    });
    const answers = await batchGetTableExpiry(deps, wanted, call);
    return { expiries: answers.map(renderExpiry) };
  },

  async listExpiringTables(request, call) {
    const wanted = parsed((faults) => {
      const environmentId = parseId(faults, "/environment_id", request.environmentId);
      return {
        environmentId,
        withinDays: parseWindow(faults, request.withinDays),
        limit: parseLimit(faults, request.limit),
        cursor: readDueCursor(faults, request.cursor, environmentId),
      };
    });
    const { tables, next } = await listExpiringTables(deps, wanted, call);
    return { tables: tables.map(renderExpiry), nextCursor: writeDueCursor(next) };
  },

  async confirmTablesDue(request, call) {
    const tableIds = parsed((faults) => {
      parseCount(faults, "/table_ids", request.tableIds.length);
      return request.tableIds.map((id, index) => parseId(faults, `/table_ids/${index}`, id));
    });
    const confirmations = await confirmTablesDue(deps, tableIds, call);
    return {
      confirmations: confirmations.map(({ due, ...answer }) => ({
        tableId: answer.facts.tableId,
        due,
        expiry: renderExpiry(answer),
        seen: {
          changeVersion: answer.facts.changeVersion,
          retentionVersion: answer.facts.retentionVersion,
          policyVersion: answer.facts.policyVersion,
        },
      })),
    };
  },

  async getTableReads(request, call) {
    const tableId = parsed((faults) => parseId(faults, "/table_id", request.tableId));
    return renderReads(await getTableReads(deps, tableId, call));
  },
});

function parseCount(faults: Faults, field: string, count: number): void {
  parseWhole(faults, field, count, { least: 0, most: MOST_TABLES });
}
