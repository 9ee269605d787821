import type { Hold, TableFiles, TableReads } from "@lapse/sdk";
import { table } from "./print.ts";
import { sizeText } from "./size.ts";
import { instantText } from "./time.ts";

export function filesTable({ files, table: found, row_filters, column_masks }: TableFiles): string {
  const policies = [
    ...row_filters.map((filter) => `rows where ${filterText(filter)}`),
    ...column_masks.map(({ column, mask }) => `column ${column} shown as ${mask}`),
  ];
  const remark = policies.length > 0 ? `\n\nTo be applied: ${policies.join("; ")}.` : "";
  if (files.length === 0) return `${found.full_name} has no files.${remark}`;
  const rows = files.map((file) => [
    file.path,
    String(file.row_count),
    sizeText(file.byte_size),
    file.uri,
  ]);
  return `${table(["file", "rows", "size", "address"], rows)}${remark}`;
}

/** A row filter as a person reads it; nothing that an engine is given. */
export function filterText(filter: TableFiles["row_filters"][number]): string {
  const values =
    filter.operator === "in" ? `(${filter.values.join(", ")})` : filter.values.join("");
  return `${filter.column} ${filter.operator} ${values}`.trim();
}

export function readsTable(name: string, { days, sources }: TableReads): string {
  if (sources.length === 0) {
    return `Nobody has reported a read of ${name}. Reads that are not reported do not keep a table.`;
  }
  const coverage = table(
    ["source", "last reported"],
    sources.map((one) => [one.source, instantText(one.last_reported_at)]),
  );
  const perDay = table(
    ["day", "source", "reads"],
    days.map((one) => [one.day, one.source, String(one.reads)]),
  );
  return days.length === 0 ? coverage : `${coverage}\n\n${perDay}`;
}

export function holdTable(name: string, holds: readonly Hold[]): string {
  if (holds.length === 0) return `Nothing holds ${name}.`;
  return table(
    ["kind", "holder", "since", "ends without a heartbeat", "id"],
    holds.map((hold) => [
      hold.kind,
      hold.holder,
      instantText(hold.created_at),
      instantText(hold.expires_at),
      hold.id,
    ]),
  );
}
