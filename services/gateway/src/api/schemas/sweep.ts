import * as z from "zod";
import { page } from "./pages.ts";
import { SweepCandidate } from "./retention.ts";
import { Count, Id, Instant, text } from "./values.ts";

const sweep = {
  id: Id,
  status: z.enum(["requested", "running", "completed", "held", "interrupted"]),
  requested_by: z.string().nullable().meta({ description: "Null: the schedule started it." }),
  started_at: Instant.nullable(),
  finished_at: Instant.nullable(),
  fence: z.record(z.string(), Count).meta({
    description: "What had to be read of each stream first.",
    examples: [{ ACTIVITY: 120 }],
  }),
  due: Count,
  dropped: Count,
  kept: z.record(z.string(), Count).meta({ description: "By reason.", examples: [{ held: 2 }] }),
  failed: Count,
  held_reason: z.string().nullable(),
  capped: z.boolean().meta({ description: "More are due; they are left to the next sweep." }),
};

export const Sweep = z.strictObject(sweep).meta({ id: "Sweep" });

export const SweepPage = page(Sweep);

/** A sweep with what became of each table. */
export const SweepWithOutcomes = z
  .strictObject({
    ...sweep,
    outcomes: z.array(
      z.strictObject({
        table_id: Id,
        name: z.string(),
        outcome: z.string().meta({ examples: ["dropped"] }),
        reason: z.string().nullable(),
        issued_at: Instant,
        answered_at: Instant.nullable(),
      }),
    ),
  })
  .meta({ id: "SweepWithOutcomes" });

export const SweepRequest = z
  .strictObject({
    dry_run: z
      .boolean()
      .optional()
      .meta({ description: "Lists what it would do; changes nothing." }),
    wait_seconds: z
      .int()
      .min(0)
      .max(120)
      .optional()
      .meta({ description: "How long to wait for its end; 0 unless given." }),
  })
  .meta({ id: "SweepRequest", examples: [{ dry_run: true }] });

/** A dry run has `would_drop`, any other run `sweep`. */
export const SweepRun = z
  .strictObject({ sweep: Sweep.nullable(), would_drop: z.array(SweepCandidate).nullable() })
  .meta({ id: "SweepRun" });

export const PauseRequest = z
  .strictObject({ reason: text(1_000).optional() })
  .meta({ id: "PauseRequest", examples: [{ reason: "migration under way" }] });

export type SweepJson = z.output<typeof Sweep>;
export type SweepWithOutcomesJson = z.output<typeof SweepWithOutcomes>;
export type SweepRunJson = z.output<typeof SweepRun>;
