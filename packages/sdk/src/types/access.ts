import { listReader, recordReader } from "../read-record.ts";

export type Role = "reader" | "writer" | "data_engineer" | "admin" | "superadmin";

/** A role that somebody holds, everywhere in the tenant or in one environment. */
export type RoleGrant = {
  /** A person's subject, or `key:<id>` for an API key. */
  readonly subject: string;
  readonly role: Role;
  /** Null: everywhere. */
  readonly environment: string | null;
  readonly granted_by: string;
  readonly granted_at: Date;
};

export const readRoleGrant = recordReader<RoleGrant>({ granted_at: "instant" });

/** What a grant on one table opens; `write` and `drop` include `read`. */
export type TableRight = "read" | "write" | "drop";

export type TableGrant = {
  readonly subject: string;
  readonly right: TableRight;
  readonly granted_by: string;
  readonly granted_at: Date;
};

export type FilterOperator =
  | "="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "in"
  | "is null"
  | "is not null";

/** Which rows may be seen: those for which it holds. */
export type RowFilterToApply = {
  readonly column: string;
  readonly operator: FilterOperator;
  /** One value, for `in` 1 to 1000, for the null tests none; compared as the column's type. */
  readonly values: readonly string[];
};

/** A row filter as it is set on a table; every one that names a subject must hold for a row to be shown to it. */
export type RowFilter = RowFilterToApply & {
  /** Unique within the table, e.g. `eu-only`. */
  readonly name: string;
  /** A subject, `role:reader` …, or `*` for all but the owner and admins. */
  readonly applies_to: string;
  readonly set_by: string;
  readonly set_at: Date;
};

/** `null`, `redact` (a fixed text), `hash` (SHA-256, hex) or `last` (the last 4 characters). */
export type Mask = "null" | "redact" | "hash" | "last";

/** What is seen in place of a column's values. */
export type ColumnMaskToApply = { readonly column: string; readonly mask: Mask };

export type ColumnMask = ColumnMaskToApply & {
  readonly applies_to: string;
  readonly set_by: string;
  readonly set_at: Date;
};

/** Everything that is set on a table. */
export type TableAccess = {
  readonly table_id: string;
  readonly owner: string;
  /** False while the table is dropped: none of it applies, and all of it is back with an undrop (T27, T28). */
  readonly applies: boolean;
  readonly grants: readonly TableGrant[];
  readonly row_filters: readonly RowFilter[];
  readonly column_masks: readonly ColumnMask[];
};

export const readTableAccess = recordReader<TableAccess>(
  {},
  {
    grants: listReader(recordReader<TableGrant>({ granted_at: "instant" })),
    row_filters: listReader(recordReader<RowFilter>({ set_at: "instant" })),
    column_masks: listReader(recordReader<ColumnMask>({ set_at: "instant" })),
  },
);

export type ApiKey = {
  readonly id: string;
  /** What it is for, in its maker's words. */
  readonly name: string;
  /** Whom it stands for: `key:<id>`. */
  readonly subject: string;
  readonly roles: readonly Role[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly revoked_by: string | null;
  /** To the minute; null: never used. */
  readonly last_used_at: Date | null;
};

const KEY_INSTANTS = {
  created_at: "instant",
  expires_at: "instant",
  revoked_at: "instant",
  last_used_at: "instant",
} as const;

export const readApiKey = recordReader<ApiKey>(KEY_INSTANTS);

/** A key with its secret, which is in this answer and nowhere else. */
export type CreatedApiKey = ApiKey & { readonly token: string };

export const readCreatedApiKey = recordReader<CreatedApiKey>(KEY_INSTANTS);
