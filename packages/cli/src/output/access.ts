import type { ApiKey, RoleGrant, TableAccess } from "@lapse/sdk";
import { fields, table } from "./print.ts";
import { filterText } from "./table-data.ts";
import { instantText } from "./time.ts";

export function accessText(name: string, access: TableAccess): string {
  const { grants, row_filters: filters, column_masks: masks } = access;
  const parts = [
    fields([
      ["table", name],
      ["owner", access.owner],
      ["applies", access.applies ? null : "not while it is dropped; an undrop has all of it back"],
      ["grants", grants.length === 0 ? "none" : null],
      ["row filters", filters.length === 0 ? "none" : null],
      ["column masks", masks.length === 0 ? "none" : null],
    ]),
  ];
  if (grants.length > 0) {
    const rows = grants.map((one) => [
      one.subject,
      one.right,
      one.granted_by,
      instantText(one.granted_at),
    ]);
    parts.push(table(["grant to", "right", "by", "since"], rows));
  }
  if (filters.length > 0) {
    const rows = filters.map((one) => [one.name, filterText(one), one.applies_to, one.set_by]);
    parts.push(table(["row filter", "shows rows where", "for", "set by"], rows));
  }
  if (masks.length > 0) {
    const rows = masks.map((one) => [one.column, one.mask, one.applies_to, one.set_by]);
    parts.push(table(["column mask", "shown as", "for", "set by"], rows));
  }
  return parts.join("\n\n");
}

export function roleTable(grants: readonly RoleGrant[]): string {
  if (grants.length === 0) return "No roles are given, besides those that tokens and API keys say.";
  return table(
    ["subject", "role", "where", "by", "since"],
    grants.map((grant) => [
      grant.subject,
      grant.role,
      grant.environment ?? "everywhere",
      grant.granted_by,
      instantText(grant.granted_at),
    ]),
  );
}

export function keyTable(keys: readonly ApiKey[], now = new Date()): string {
  if (keys.length === 0) return "No API keys. Make one: lapse key create NAME --role reader";
  return table(
    ["name", "state", "roles", "made by", "last used", "id"],
    keys.map((key) => [
      key.name,
      keyState(key, now),
      key.roles.join(", ") || "none of its own",
      key.created_by,
      key.last_used_at ? instantText(key.last_used_at, now) : "never",
      key.id,
    ]),
  );
}

function keyState(key: ApiKey, now: Date): string {
  if (key.revoked_at) return `revoked by ${key.revoked_by ?? "–"}`;
  return key.expires_at <= now ? "expired" : `until ${instantText(key.expires_at, now)}`;
}
