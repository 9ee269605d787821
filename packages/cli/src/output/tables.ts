import type { ExpiringTable, Table } from "@lapse/sdk";
import { fields, table } from "./print.ts";
import { ruleText } from "./rule.ts";
import { sizeText } from "./size.ts";
import { instantText } from "./time.ts";
import { quantity } from "./words.ts";

export function tableList(items: readonly Table[], environment: string): string {
  if (items.length === 0) return `No tables in ${environment}.`;
  const soon = items.some((item) => item.expires_soon || item.expiry_unknown);
  const head = ["table", "kind", "rows", "size", "owner", ...(soon ? ["expires"] : [])];
  return table(
    head,
    items.map((item) => [
      item.full_name,
      item.kind,
      String(item.row_count),
      sizeText(item.byte_size),
      item.owner,
      ...(soon ? [soonText(item)] : []),
    ]),
  );
}

export function tableFields(item: Table): string {
  const expires = item.expiry_unknown
    ? "could not be told now; ask again"
    : item.expires_at
      ? instantText(item.expires_at)
      : "it does not expire";
  const keep = item.expires_at
    ? `lapse table retention ${item.full_name} --env ${item.environment} --never`
    : null;
  return fields([
    ["table", item.full_name],
    ["environment", item.environment],
    ["description", item.description],
    ["kind", item.kind],
    [
      "rows",
      `${item.row_count} in ${quantity(item.file_count, "file")}, ${sizeText(item.byte_size)}`,
    ],
    ["columns", item.columns.map(columnText).join(", ")],
    ["owner", item.owner],
    ["you may", item.rights.join(", ")],
    ["expires", expires],
    ["kept by", item.asset_of ? `project ${item.asset_of}, which builds it` : null],
    ["to keep it", keep],
    ["created", instantText(item.created_at)],
    ["last changed", instantText(item.last_changed_at)],
    ["restored", item.restored_at ? instantText(item.restored_at) : null],
    ["location", item.location],
    ["id", item.id],
  ]);
}

export function droppedTable(items: readonly Table[], environment: string, name?: string): string {
  if (items.length === 0) {
    return name === undefined
      ? `There are no dropped tables in ${environment} that you may bring back.`
      : `No table dropped under the name ${name} in ${environment} can be brought back by you.`;
  }
  return table(
    ["table", "rows", "dropped", "why", "can be undropped until", "id"],
    items.map((item) => [
      item.full_name,
      String(item.row_count),
      instantText(item.dropped_at),
      item.drop_reason ?? "",
      item.state === "dropped"
        ? instantText(item.undo_until)
        : "no more: its files are being deleted",
      item.id,
    ]),
  );
}

export function expiringTable(items: readonly ExpiringTable[], environment: string): string {
  if (items.length === 0) return `Nothing expires in ${environment} within the window.`;
  return table(
    ["table", "expires", "rule", "set by"],
    items.map((item) => [
      item.full_name,
      instantText(item.expires_at),
      ruleText(item) ?? "",
      item.set_by ?? "",
    ]),
  );
}

/** What a person wants to know after a table has got a retention. */
export function expiryRemark(found: Table): string {
  return found.expires_at ? `It expires ${instantText(found.expires_at)}.` : "";
}

function soonText(item: Table): string {
  if (item.expiry_unknown) return "?";
  return item.expires_soon ? instantText(item.expires_at) : "";
}

function columnText(column: Table["columns"][number]): string {
  return `${column.name} ${column.type}${column.required ? " not null" : ""}`;
}
