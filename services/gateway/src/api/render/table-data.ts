import type { Hold, ListTableFilesResponse } from "@lapse/proto/catalog";
import type { GetTableReadsResponse } from "@lapse/proto/evaluator";
import type { TableView } from "../../app/table-expiry.ts";
import { MASKS, OPERATORS } from "../schemas/access.ts";
import type { HoldJson, TableFilesJson, TableReadsJson } from "../schemas/table-data.ts";

import { renderTable } from "./table.ts";
import { count, instant, oneOf, textOrNull } from "./values.ts";

export const renderFiles = (answer: ListTableFilesResponse, view: TableView): TableFilesJson => ({
  snapshot_id: textOrNull(answer.snapshotId),
  files: answer.files.map(({ path, uri, byteSize, rowCount }) => ({
    path,
    uri,
    byte_size: count(byteSize),
    row_count: count(rowCount),
  })),
  next_cursor: textOrNull(answer.nextCursor),
  row_filters: answer.rowFilters.map(({ column, operator, values }) => ({
    column,
    operator: oneOf(OPERATORS, operator, "filter.operator"),
    values,
  })),
  column_masks: answer.columnMasks.map(({ column, mask }) => ({
    column,
    mask: oneOf(MASKS, mask, "mask.mask"),
  })),
  table: renderTable(view),
});

export const renderReads = ({ days, sources }: GetTableReadsResponse): TableReadsJson => ({
  days: days.map(({ day, source, reads }) => ({ day, source, reads: count(reads) })),
  sources: sources.map(({ source, lastReportedAt }) => ({
    source,
    last_reported_at: instant(lastReportedAt, "source.last_reported_at"),
  })),
});

export const renderHold = (hold: Hold): HoldJson => ({
  id: hold.holdId,
  table_id: hold.tableId,
  kind: oneOf(["write", "pipeline_task"], hold.kind, "hold.kind"),
  holder: hold.holder,
  created_at: instant(hold.createdAt, "hold.created_at"),
  expires_at: instant(hold.expiresAt, "hold.expires_at"),
});
