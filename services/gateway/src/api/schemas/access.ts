import { ROLES, TABLE_GRANTS } from "@lapse/kit";
import * as z from "zod";
import { page, pageQuery } from "./pages.ts";
import { EnvironmentName, Id, Instant, Subject, text } from "./values.ts";

export const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"] as const;
export const MASKS = ["null", "redact", "hash", "last"] as const;

/** Values of an `in`, at most. */
const MOST_VALUES = 1_000;

const Column = text(255)
  .min(1)
  .meta({ examples: ["country"] });
const Operator = z.enum(OPERATORS);
const Mask = z.enum(MASKS).meta({
  description:
    "`null`; `redact`: a fixed text; `hash`: SHA-256 in hex; `last`: the last 4 characters.",
});
const AppliesTo = Subject.meta({
  description:
    "A subject, `role:<role>` for the holders of exactly that role, or `*` for all but owner and admins.",
  examples: ["role:reader"],
});
const Values = z.array(text(4_096)).max(MOST_VALUES).meta({
  description: "One; for `in` up to 1000; for the null tests none. Compared as the column's type.",
});

/** A row filter as it holds for the caller. */
export const AppliedFilter = z
  .strictObject({ column: z.string(), operator: Operator, values: z.array(z.string()) })
  .meta({
    id: "AppliedFilter",
    examples: [{ column: "country", operator: "in", values: ["DE", "FR"] }],
  });

/** A column mask as it holds for the caller. */
export const AppliedMask = z
  .strictObject({ column: z.string(), mask: Mask })
  .meta({ id: "AppliedMask", examples: [{ column: "email", mask: "hash" }] });

const TableGrant = z
  .strictObject({
    subject: z.string(),
    right: z.enum(TABLE_GRANTS),
    granted_by: z.string(),
    granted_at: Instant,
  })
  .meta({ id: "TableGrant" });

const RowFilter = AppliedFilter.extend({
  name: z.string(),
  applies_to: z.string(),
  set_by: z.string(),
  set_at: Instant,
}).meta({ id: "RowFilter" });

const ColumnMask = AppliedMask.extend({
  applies_to: z.string(),
  set_by: z.string(),
  set_at: Instant,
}).meta({ id: "ColumnMask" });

/** Everything that is set on a table (T28). */
export const TableAccess = z
  .strictObject({
    table_id: Id,
    owner: z.string(),
    applies: z.boolean().meta({
      description:
        "False while the table is dropped: nothing of it applies, and all of it is back with an undrop.",
    }),
    grants: z.array(TableGrant),
    row_filters: z.array(RowFilter),
    column_masks: z.array(ColumnMask),
  })
  .meta({ id: "TableAccess" });

const Grant = z.enum(TABLE_GRANTS).meta({ description: "`write` and `drop` include `read`." });

export const NewTableGrant = z
  .strictObject({ subject: Subject, right: Grant })
  .meta({ id: "NewTableGrant", examples: [{ subject: "ana@example.org", right: "read" }] });

/** What the path of a grant, a filter or a mask adds to the table's. */
export const grantPath = { subject: Subject, right: Grant };
export const filterPath = {
  filter: text(200)
    .min(1)
    .meta({ examples: ["eu-only"] }),
};
export const maskPath = { column: Column };

/** The filter of a name; one that is there is replaced. */
export const NewRowFilter = z
  .strictObject({
    applies_to: AppliesTo,
    column: Column,
    operator: Operator,
    values: Values.optional(),
  })
  .superRefine(({ operator, values = [] }, context) => {
    const fault = valuesFault(operator, values.length);
    if (fault !== undefined) {
      context.addIssue({ code: "custom", message: fault, path: ["values"] });
    }
  })
  .meta({
    id: "NewRowFilter",
    description: "A row is shown where the comparison holds, and every other filter of the reader.",
    examples: [
      { applies_to: "role:reader", column: "country", operator: "in", values: ["DE", "FR"] },
    ],
  });

function valuesFault(operator: z.output<typeof Operator>, given: number): string | undefined {
  switch (operator) {
    case "is null":
    case "is not null":
      return given === 0 ? undefined : `${operator} takes no values; leave them out`;
    case "in":
      return given > 0 ? undefined : "in takes 1 to 1000 values";
    default:
      return given === 1 ? undefined : `${operator} takes exactly one value`;
  }
}

/** The mask of a column for a subject; one that is there is replaced. */
export const NewColumnMask = z
  .strictObject({ mask: Mask })
  .meta({ id: "NewColumnMask", examples: [{ mask: "hash" }] });

export const MaskQuery = z.strictObject({
  applies_to: AppliesTo.optional().meta({ description: "`*` unless given." }),
});

const Role = z.enum(ROLES);

/** A role that somebody has been given (T6). */
export const RoleGrant = z
  .strictObject({
    subject: z.string(),
    role: Role,
    environment: z
      .string()
      .nullable()
      .meta({ description: "Null: it holds everywhere in the tenant." }),
    granted_by: z.string(),
    granted_at: Instant,
  })
  .meta({ id: "RoleGrant" });

export const RoleGrantPage = page(RoleGrant);

const roleGrant = {
  subject: Subject,
  role: Role,
  environment: EnvironmentName.optional().meta({
    description: "Where it holds; absent: everywhere in the tenant.",
  }),
};

export const NewRoleGrant = z.strictObject(roleGrant).meta({
  id: "NewRoleGrant",
  examples: [{ subject: "ana@example.org", role: "writer", environment: "dev" }],
});

/** Which role is taken away. */
export const RevokedRole = z.strictObject(roleGrant);

export const RoleQuery = z.strictObject({
  environment: EnvironmentName.optional().meta({
    description: "Only those of this environment; absent: all, and those that hold everywhere.",
  }),
  subject: Subject.optional(),
  ...pageQuery,
});

export type TableAccessJson = z.output<typeof TableAccess>;
export type RoleGrantJson = z.output<typeof RoleGrant>;
