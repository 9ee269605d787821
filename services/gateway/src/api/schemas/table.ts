import * as z from "zod";
import { page } from "./pages.ts";
import { Days } from "./retention.ts";
import {
  Count,
  EnvironmentName,
  Id,
  Instant,
  Namespace,
  Rights,
  TableName,
  text,
  Version,
} from "./values.ts";

const TableKind = z.enum(["managed", "view", "external", "artifact"]);
const TableState = z.enum(["staged", "live", "dropped", "purging", "purged"]);

const Column = z
  .strictObject({
    name: z.string(),
    type: z.string().meta({ description: "As the engine that wrote it names it." }),
    required: z.boolean(),
  })
  .meta({ id: "Column", examples: [{ name: "id", type: "BIGINT", required: true }] });

/** Columns as a caller gives them. */
export const GivenColumns = z
  .array(
    z.strictObject({
      name: text(255),
      type: text(4_096),
      required: z.boolean().optional().meta({ description: "False unless given." }),
    }),
  )
  .max(2_000)
  .meta({ examples: [[{ name: "id", type: "BIGINT", required: true }]] });

const table = {
  id: Id,
  environment: EnvironmentName,
  namespace: Namespace,
  name: TableName,
  full_name: z.string().meta({ examples: ["bronze.trial"] }),
  kind: TableKind,
  state: TableState,
  owner: z.string(),
  description: z.string(),
  columns: z.array(Column),
  location: z.string().meta({ description: "Where its files lie; empty for a view." }),
  row_count: Count,
  byte_size: Count,
  file_count: Count,
  version: Version,
  created_at: Instant,
  last_changed_at: Instant,
  restored_at: Instant.nullable(),
  expires_at: Instant.nullable().meta({
    description: "Null: it does not expire, unless `expiry_unknown` is true.",
  }),
  expires_soon: z.boolean().meta({ description: "Within the warning window." }),
  expiry_unknown: z.boolean().meta({
    description:
      "True while the evaluator cannot say when it expires (it is away, or has not read the latest changes): " +
      "`expires_at` is then null without meaning never.",
  }),
  rights: Rights,
  asset_of: z
    .string()
    .nullable()
    .meta({
      description: "The project and version that keep it for ever; null: none does.",
      examples: ["shop 1.4.0"],
    }),
  dropped_at: Instant.optional().meta({ description: "Only once it is dropped." }),
  drop_reason: z.enum(["retention", "request"]).optional(),
  undo_until: Instant.optional().meta({ description: "Until then it can be brought back." }),
};

/** A table with its expiry (T12). */
export const Table = z.strictObject(table).meta({ id: "Table" });

export const TablePage = page(Table);

/** The answer to a commit. */
export const CommittedTable = z
  .strictObject({ ...table, snapshot_id: Id.nullable() })
  .meta({ id: "CommittedTable" });

export const NewTable = z
  .strictObject({
    name: TableName,
    kind: TableKind.optional().meta({ description: "Managed unless given." }),
    columns: GivenColumns.optional(),
    description: text(10_000).optional(),
    staged: z.boolean().optional().meta({
      description: "Invisible until its first commit; until then it is reached by its id.",
    }),
    expire_after_days: Days.optional().meta({
      description: "Its retention: it expires so many days after its last activity.",
    }),
  })
  .refine(
    ({ kind, expire_after_days: days }) => days === undefined || (kind ?? "managed") === "managed",
    {
      path: ["expire_after_days"],
      error: "only managed tables have a retention; leave it out",
    },
  )
  .meta({ id: "NewTable", examples: [{ name: "trial", expire_after_days: 30 }] });

/** What to change; what is absent stays as it is. */
export const TableChange = z
  .strictObject({
    description: text(10_000).optional(),
    name: TableName.optional(),
    namespace: Namespace.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: "give at least one of description, name and namespace",
  })
  .meta({
    id: "TableChange",
    minProperties: 1,
    examples: [{ description: "A trial; safe to lose." }, { name: "trial2", namespace: "silver" }],
  });

export const UndropByName = z
  .strictObject({
    id: Id.optional().meta({
      description: "Which one of this name; absent: the one dropped last.",
    }),
    as: TableName.optional().meta({
      description: "The name it comes back under; absent: its own.",
    }),
  })
  .meta({ id: "UndropByName", examples: [{ as: "trial_restored" }] });

export const UndropById = z
  .strictObject({
    as: TableName.optional().meta({
      description: "The name it comes back under; absent: its own.",
    }),
  })
  .meta({ id: "UndropById", examples: [{}] });

export type TableJson = z.output<typeof Table>;
export type CommittedTableJson = z.output<typeof CommittedTable>;
