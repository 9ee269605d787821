import { CommitOperation } from "@lapse/proto/catalog";
import { writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import { oneWithExpiry } from "../../app/table-expiry.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderTable } from "../render/table.ts";
import { textOrNull } from "../render/values.ts";
import { CommittedTable } from "../schemas/table.ts";
import { Commit } from "../schemas/table-data.ts";
import { ADDRESSES, tableRef } from "./address.ts";
import { givenColumns } from "./given-columns.ts";

const OPERATIONS = {
  append: CommitOperation.APPEND,
  replace: CommitOperation.REPLACE,
  maintain: CommitOperation.MAINTAIN,
} as const;

/** Ten thousand files, each with a path of some length. */
const MAX_BODY = 8 * 1024 * 1024;

/** `…/commits` of a table, by name and by id. */
export function commitRoutes(api: Api, { peers }: ApiDeps): void {
  for (const { path, params, suffix, by } of ADDRESSES) {
    api.post(
      `${path}/commits`,
      {
        bodyLimit: MAX_BODY,
        schema: operation({
          id: `commitTable${suffix}`,
          tag: "Tables",
          summary: `Add or replace a table's files, ${by}`,
          description: "The first commit of a staged table makes it live.",
          params,
          body: Commit,
          answer: CommittedTable,
          problems: [404, 409],
        }),
      },
      async (request, reply) => {
        const call = callOf(request, reply);
        const { operation: kind, files, columns, expected_version: version } = request.body;
        const commit = {
          table: tableRef(request.params),
          operation: OPERATIONS[kind],
          files: files.map((file) => ({
            path: file.path,
            byteSize: BigInt(file.byte_size),
            rowCount: BigInt(file.row_count),
          })),
          ...(version !== undefined && { expectedChangeVersion: BigInt(version) }),
          columns: givenColumns(columns ?? []),
          holdId: request.body.hold_id ?? "",
        };
        const answer = await peers.catalog.commitTable(commit, writing(call));
        const view = await oneWithExpiry(peers, call, required(answer.table, "table"));
        return { ...renderTable(view), snapshot_id: textOrNull(answer.snapshotId) };
      },
    );
  }
}
