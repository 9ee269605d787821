import * as z from "zod";
import { EnvironmentName, FullName, GivenInstant, Id, text } from "./values.ts";

/** Events in one call, at most. */
const MOST_EVENTS = 10_000;

/** Something used a table, as a caller reports it (T14). */
const ActivityEvent = z
  .strictObject({
    kind: z.enum(["read", "written", "maintained", "changed"]),
    table_id: Id.optional(),
    environment: EnvironmentName.optional(),
    table: FullName.optional(),
    occurred_at: GivenInstant.optional().meta({ description: "Absent: now." }),
    source: text(200)
      .min(1)
      .optional()
      .meta({ description: "Which system saw it.", examples: ["trino"] }),
  })
  .superRefine(({ table_id, environment, table }, context) => {
    const byName = environment !== undefined || table !== undefined;
    if (table_id !== undefined && byName) {
      const message = "name the table once: by table_id, or by environment and table";
      context.addIssue({ code: "custom", message, path: ["table_id"] });
    }
    if (table_id !== undefined || (environment !== undefined && table !== undefined)) return;
    const path = [
      environment !== undefined ? "table" : table !== undefined ? "environment" : "table_id",
    ];
    const message = "say which table: by table_id, or by environment and table";
    context.addIssue({ code: "custom", message, path });
  })
  .meta({
    id: "ActivityEvent",
    description: "The table is given by `table_id`, or by `environment` and `table`.",
  });

const ActivityEvents = z
  .strictObject({ events: z.array(ActivityEvent).min(1).max(MOST_EVENTS) })
  .meta({ id: "ActivityEvents" });

/** One event, or many. */
export const ActivityReport = z.union([ActivityEvent, ActivityEvents]).meta({
  examples: [
    { kind: "read", environment: "dev", table: "bronze.trial", source: "trino" },
    { events: [{ kind: "read", table_id: "0190f3a2-7c1e-7b1a-9d3e-5a2f4c6b8d10" }] },
  ],
});

export const Accepted = z.strictObject({
  accepted: z.int().min(0).meta({ description: "All events of the call." }),
});

export type ActivityEventJson = z.output<typeof ActivityEvent>;
