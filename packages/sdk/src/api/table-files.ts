import { LapseApiError } from "../errors.ts";
import type { CallOptions, Http } from "../http/http.ts";
import { readTableFiles, type TableFiles } from "../types/table.ts";

export type FilesOptions = {
  /**
   * The caller applies `row_filters` and `column_masks` before it shows any row. Without it, a table that has any for
   * the caller is refused as `POLICY_NOT_APPLIED`.
   */
  readonly appliesPolicies?: boolean;
};

const PAGE = 10_000;
/** How often a list is begun anew because a commit has come between its pages. */
const BEGINNINGS = 5;

/** All files of a table's current snapshot, whatever their number; every page is of the same one. */
export async function listFiles(
  http: Http,
  url: string,
  { appliesPolicies, ...options }: FilesOptions & CallOptions,
): Promise<TableFiles> {
  for (let beginning = 1; ; beginning++) {
    try {
      return await readPages(http, url, appliesPolicies, options);
    } catch (error) {
      const moved = error instanceof LapseApiError && error.code === "SNAPSHOT_CHANGED";
      if (!moved || beginning === BEGINNINGS) throw error;
    }
  }
}

async function readPages(
  http: Http,
  url: string,
  appliesPolicies: boolean | undefined,
  options: CallOptions,
): Promise<TableFiles> {
  const page = async (cursor?: string) => {
    const query = { limit: PAGE, cursor, applies_policies: appliesPolicies };
    return readTableFiles(await http.send("GET", url, { query, options }));
  };
  const { next_cursor, ...first } = await page();
  const files = [...first.files];
  for (let cursor = next_cursor; cursor !== null; ) {
    const next = await page(cursor);
    for (const file of next.files) files.push(file);
    cursor = next.next_cursor;
  }
  return { ...first, files };
}
