import { type CallContext, forwardFrom, type GrpcClient } from "@lapse/kit";
import type { CatalogService } from "@lapse/proto/catalog";
import type { Environment, Table } from "../domain/table.ts";
import { toEnvironment, toTable } from "../messages/table.ts";

/** The catalog, asked on behalf of whoever calls; what they may not see is not found there. */
export interface Catalog {
  getTable(id: string, call: CallContext): Promise<Table>;
  /** Orders a coming change of the table's retention against its drop (T5). */
  touchTable(id: string, call: CallContext): Promise<Table>;
  getEnvironment(id: string, call: CallContext): Promise<Environment>;
  /** Ids of the environments in which the caller may see anything. */
  visibleEnvironments(call: CallContext): Promise<string[]>;
  /** Orders a coming change of the environment's retention against every drop in it. */
  touchEnvironment(id: string, call: CallContext): Promise<Environment>;
}

const PAGE = 1_000;

export function catalogPeer(client: GrpcClient<typeof CatalogService>): Catalog {
  const tableRef = (tableId: string) =>
    ({ table: { ref: { case: "tableId", value: tableId } } }) as const;
  const environmentRef = (environmentId: string) =>
    ({ environment: { ref: { case: "environmentId", value: environmentId } } }) as const;
  return {
    async getTable(id, call) {
      return toTable((await client.getTable(tableRef(id), forwardFrom(call))).table);
    },
    async touchTable(id, call) {
      return toTable((await client.touchTable(tableRef(id), forwardFrom(call))).table);
    },
    async getEnvironment(id, call) {
      const { environment } = await client.getEnvironment(environmentRef(id), forwardFrom(call));
      return toEnvironment(environment);
    },
    async visibleEnvironments(call) {
      const ids: string[] = [];
      let cursor = "";
      do {
        const page = await client.listEnvironments({ limit: PAGE, cursor }, forwardFrom(call));
        ids.push(...page.environments.map(({ environmentId }) => environmentId));
        cursor = page.nextCursor;
      } while (cursor !== "");
      return ids;
    },
    async touchEnvironment(id, call) {
      const { environment } = await client.touchEnvironment(environmentRef(id), forwardFrom(call));
      return toEnvironment(environment);
    },
  };
}
