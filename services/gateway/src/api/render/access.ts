import { ROLES, TABLE_GRANTS } from "@lapse/kit";
import type { ApiKey, RoleGrant, TableAccess } from "@lapse/proto/catalog";
import { MASKS, OPERATORS, type RoleGrantJson, type TableAccessJson } from "../schemas/access.ts";
import type { ApiKeyJson } from "../schemas/api-key.ts";
import { instant, instantOrNull, oneOf, textOrNull } from "./values.ts";

export const renderTableAccess = (access: TableAccess): TableAccessJson => ({
  table_id: access.tableId,
  owner: access.owner,
  applies: access.applies,
  grants: access.grants.map((grant) => ({
    subject: grant.subject,
    right: oneOf(TABLE_GRANTS, grant.right, "grant.right"),
    granted_by: grant.grantedBy,
    granted_at: instant(grant.grantedAt, "grant.granted_at"),
  })),
  row_filters: access.rowFilters.map((filter) => ({
    name: filter.name,
    applies_to: filter.appliesTo,
    column: filter.column,
    operator: oneOf(OPERATORS, filter.operator, "filter.operator"),
    values: filter.values,
    set_by: filter.setBy,
    set_at: instant(filter.setAt, "filter.set_at"),
  })),
  column_masks: access.columnMasks.map((mask) => ({
    column: mask.column,
    applies_to: mask.appliesTo,
    mask: oneOf(MASKS, mask.mask, "mask.mask"),
    set_by: mask.setBy,
    set_at: instant(mask.setAt, "mask.set_at"),
  })),
});

export const renderRoleGrant = (grant: RoleGrant): RoleGrantJson => ({
  subject: grant.subject,
  role: oneOf(ROLES, grant.role, "grant.role"),
  environment: textOrNull(grant.environment),
  granted_by: grant.grantedBy,
  granted_at: instant(grant.grantedAt, "grant.granted_at"),
});

export const renderApiKey = (key: ApiKey): ApiKeyJson => ({
  id: key.keyId,
  name: key.name,
  subject: key.subject,
  roles: key.roles.map((role) => oneOf(ROLES, role, "key.roles")),
  created_by: key.createdBy,
  created_at: instant(key.createdAt, "key.created_at"),
  expires_at: instant(key.expiresAt, "key.expires_at"),
  revoked_at: instantOrNull(key.revokedAt),
  revoked_by: textOrNull(key.revokedBy),
  last_used_at: instantOrNull(key.lastUsedAt),
});
