import type { CallOptions, Http, WriteOptions } from "../http/http.ts";
import { type Retention, type RetentionRule, readRetention } from "../types/retention.ts";
import {
  type Commit,
  type CommittedTable,
  readCommittedTable,
  readTable,
  readTableReads,
  type Table,
  type TableFiles,
  type TableReads,
} from "../types/table.ts";
import { type FilesOptions, listFiles } from "./table-files.ts";

/** What to change of a table; what is absent stays. Each is activity (T13). */
export type TableChange = {
  readonly description?: string;
  readonly name?: string;
  readonly namespace?: string;
};

/** What can be done with one table, by whichever address reaches it. */
export function tableApi(http: Http, url: () => string) {
  return {
    async get(options?: CallOptions): Promise<Table> {
      return readTable(await http.send("GET", url(), { options }));
    },
    async update(change: TableChange, options?: WriteOptions): Promise<Table> {
      return readTable(await http.send("PATCH", url(), { body: change, options }));
    },
    async drop(options?: WriteOptions): Promise<Table> {
      return readTable(await http.send("DELETE", url(), { options }));
    },
    async retention(options?: CallOptions): Promise<Retention> {
      return readRetention(await http.send("GET", `${url()}/retention`, { options }));
    },
    async setRetention(rule: RetentionRule, options?: WriteOptions): Promise<Retention> {
      return readRetention(await http.send("PUT", `${url()}/retention`, { body: rule, options }));
    },
    files(options: FilesOptions & CallOptions = {}): Promise<TableFiles> {
      return listFiles(http, `${url()}/files`, options);
    },
    async reads(options?: CallOptions): Promise<TableReads> {
      return readTableReads(await http.send("GET", `${url()}/reads`, { options }));
    },
    async commit(commit: Commit, options?: WriteOptions): Promise<CommittedTable> {
      const answer = await http.send("POST", `${url()}/commits`, { body: commit, options });
      return readCommittedTable(answer);
    },
  };
}
