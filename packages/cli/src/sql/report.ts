import type { LapseClient, Table } from "@lapse/sdk";
import { FailedError } from "../exit.ts";

/** Reports that the tables were read (T14), so that they live on. */
export async function reportReads(client: LapseClient, tables: readonly Table[]): Promise<void> {
  if (tables.length === 0) return;
  const occurred_at = new Date();
  const events = tables.map((table) => ({
    kind: "read" as const,
    table_id: table.id,
    occurred_at,
    source: "lapse-sql",
  }));
  try {
    await client.activity.report(events);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FailedError(
      `The query ran, but that it read ${tables.map((table) => table.full_name).join(", ")} could not be reported, so it does not keep them: run it again. ${why}`,
      { cause: error },
    );
  }
}
