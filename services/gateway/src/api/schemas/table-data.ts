import * as z from "zod";
import { AppliedFilter, AppliedMask } from "./access.ts";
import { page, pageQuery } from "./pages.ts";
import { GivenColumns, Table } from "./table.ts";
import { Count, Flag, Id, Instant, text, Version } from "./values.ts";

const DataFile = z.strictObject({
  path: text(1_024).meta({
    description: "Below the table's location.",
    examples: ["data/0190f3a2.parquet"],
  }),
  byte_size: Count,
  row_count: Count,
});

/** Files to add or to put in place of the others. */
export const Commit = z
  .strictObject({
    operation: z.enum(["append", "replace", "maintain"]).meta({
      description:
        "`append` adds the files; `replace` puts them in place of all others; `maintain` does so without a change of data.",
    }),
    files: z.array(DataFile).max(10_000),
    expected_version: Version.optional().meta({
      description:
        "Refused with a conflict when the table has moved on; absent: whatever its version.",
    }),
    columns: GivenColumns.optional().meta({
      description: "The columns after it; absent: unchanged.",
    }),
    hold_id: Id.optional().meta({ description: "A hold that ends with the commit." }),
  })
  .meta({
    id: "Commit",
    examples: [
      {
        operation: "append",
        files: [{ path: "data/0190f3a2.parquet", byte_size: 2048, row_count: 100 }],
      },
    ],
  });

/** Which of a table's files are wanted, and by what kind of reader. */
export const FilesQuery = z.strictObject({
  limit: z.coerce
    .number({ error: "give a whole number from 1 to 10000" })
    .int()
    .min(1)
    .max(10_000)
    .default(1_000)
    .meta({ description: "Files on a page, at most." }),
  cursor: pageQuery.cursor.meta({
    description:
      "`next_cursor` of the page before; refused with a conflict once a commit has changed the files.",
  }),
  applies_policies: Flag.optional().meta({
    description:
      "The reader applies `row_filters` and `column_masks` itself. Without it, a table that has any for the caller is refused.",
  }),
});

/** A page of the files of a table's current snapshot, and what of them the caller may see. */
export const TableFiles = z
  .strictObject({
    snapshot_id: Id.nullable().meta({ description: "Null before the first commit." }),
    files: z.array(
      DataFile.extend({ uri: z.string().meta({ description: "What a reader opens." }) }),
    ),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: "Gets the next page; null on the last one." }),
    row_filters: z
      .array(AppliedFilter)
      .meta({ description: "A row may be shown where all of them hold." }),
    column_masks: z
      .array(AppliedMask)
      .meta({ description: "What is shown in place of a column's values." }),
    table: Table,
  })
  .meta({ id: "TableFiles" });

/** Reads of a table (T17, T18). */
export const TableReads = z
  .strictObject({
    days: z.array(z.strictObject({ day: z.iso.date(), source: z.string(), reads: Count })),
    sources: z.array(z.strictObject({ source: z.string(), last_reported_at: Instant })).meta({
      description:
        "Which systems have reported reads, and when last: what the reads can be judged by.",
    }),
  })
  .meta({ id: "TableReads" });

const HoldKind = z.enum(["write", "pipeline_task"]);

/** A lease that keeps a table from being dropped (T21). */
export const Hold = z
  .strictObject({
    id: Id,
    table_id: Id,
    kind: HoldKind,
    holder: z.string(),
    created_at: Instant,
    expires_at: Instant.meta({ description: "Renew it well before." }),
  })
  .meta({ id: "Hold" });

export const HoldPage = page(Hold);

export const NewHold = z
  .strictObject({ kind: HoldKind.optional().meta({ description: "`write` unless given." }) })
  .meta({ id: "NewHold", examples: [{ kind: "write" }] });

export type TableFilesJson = z.output<typeof TableFiles>;
export type TableReadsJson = z.output<typeof TableReads>;
export type HoldJson = z.output<typeof Hold>;
