import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeySchema, RoleGrantSchema, TableAccessSchema } from "@lapse/proto/catalog";
import type { TableWithAccess } from "../app/change-table-access.ts";
import { type ApiKey, keySubject } from "../domain/api-key.ts";
import { accessApplies } from "../domain/effective-rights.ts";
import type { NamedBinding } from "../store/roles.ts";

export const renderBinding = (binding: NamedBinding): MessageInitShape<typeof RoleGrantSchema> => ({
  subject: binding.subject,
  role: binding.role,
  environment: binding.environment,
  grantedBy: binding.grantedBy,
  grantedAt: timestampFromDate(binding.grantedAt),
});

export const renderAccess = ({
  table,
  access,
}: TableWithAccess): MessageInitShape<typeof TableAccessSchema> => ({
  tableId: table.tableId,
  owner: table.owner,
  applies: accessApplies(table),
  grants: access.grants.map(({ grantedAt, ...grant }) => ({
    ...grant,
    grantedAt: timestampFromDate(grantedAt),
  })),
  rowFilters: access.filters.map(({ setAt, values, ...filter }) => ({
    ...filter,
    values: [...values],
    setAt: timestampFromDate(setAt),
  })),
  columnMasks: access.masks.map(({ setAt, ...mask }) => ({
    ...mask,
    setAt: timestampFromDate(setAt),
  })),
});

export const renderApiKey = (key: ApiKey): MessageInitShape<typeof ApiKeySchema> => ({
  keyId: key.keyId,
  name: key.name,
  subject: keySubject(key.keyId),
  roles: [...key.roles],
  createdBy: key.createdBy,
  createdAt: timestampFromDate(key.createdAt),
  expiresAt: timestampFromDate(key.expiresAt),
  revokedBy: key.revokedBy ?? "",
  ...(key.revokedAt && { revokedAt: timestampFromDate(key.revokedAt) }),
  ...(key.lastUsedAt && { lastUsedAt: timestampFromDate(key.lastUsedAt) }),
});
