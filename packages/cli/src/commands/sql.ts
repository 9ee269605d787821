import { Command, Option } from "@commander-js/extra-typings";
import { daysArgument } from "../arguments.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit.ts";
import { table } from "../output/print.ts";
import { expiryRemark } from "../output/tables.ts";
import { quantity } from "../output/words.ts";
import type { Run } from "../program.ts";
import { explaining, requireQuery, requireReadOnly, withEngine } from "../sql/engine.ts";
import { mountTables } from "../sql/mount.ts";
import { reportReads } from "../sql/report.ts";
import { type WriteMode, writeQuery } from "../sql/write.ts";

type SqlOptions = {
  readonly into?: string | undefined;
  readonly mode?: WriteMode | undefined;
  readonly expireAfter?: number | undefined;
};

export function sqlCommand(run: Run): Command {
  return new Command("sql")
    .description("run a query over tables with DuckDB, and write its rows to a table")
    .argument("<query>", 'e.g. "SELECT count(*) FROM bronze.trial"; a file works as a table too')
    .option("--into <table>", "write the rows to this table, e.g. bronze.trial")
    .addOption(
      new Option("--mode <mode>", "how to write").choices(["create", "append", "replace"] as const),
    )
    .option(
      "--expire-after <days>",
      "with --mode create: days after its last activity",
      daysArgument,
    )
    .action((query, options) => {
      checkOptions(options);
      return run((context) => runSql(query, options, context));
    }) as unknown as Command;
}

/** T1: a retention goes with a write that creates its table, and with no other. */
function checkOptions({ into, mode, expireAfter }: SqlOptions): void {
  if (into !== undefined && mode === undefined) {
    throw new UsageError("--into needs --mode create, append or replace.");
  }
  if (into === undefined && mode !== undefined) {
    throw new UsageError("--mode needs --into and the name of a table.");
  }
  if (expireAfter !== undefined && mode !== "create") {
    throw new UsageError(
      "--expire-after goes with --mode create. For a table that exists use: lapse table retention NS.NAME --days N",
    );
  }
}

async function runSql(query: string, options: SqlOptions, context: Context): Promise<void> {
  const { client, environment, output } = context;
  const sql = query.trim().replace(/;\s*$/, "");
  await withEngine(async (engine) => {
    await requireQuery(engine, sql);
    const read = await mountTables(engine, client, environment, sql);
    await requireReadOnly(engine, sql);
    if (options.into !== undefined && options.mode !== undefined) {
      const { into, mode, expireAfter } = options;
      const written = await writeQuery(engine, client, {
        sql,
        environment,
        into,
        mode,
        read,
        ...(expireAfter === undefined ? {} : { expireAfterDays: expireAfter }),
      });
      const rows = quantity(written.rows, "row");
      output.show(written, () =>
        `Wrote ${rows} to ${written.table.full_name}. ${expiryRemark(written.table)}`.trim(),
      );
    } else {
      const result = await explaining(() => engine.runAndReadAll(sql));
      output.show(result.getRowObjectsJson(), () =>
        table(
          result.columnNames(),
          result.getRowsJson().map((row) => row.map(cell)),
        ),
      );
    }
    await reportReads(
      client,
      read.map(({ table: one }) => one),
    );
  });
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
