import * as z from "zod";
import { page, pageQuery } from "./pages.ts";
import { SweepCandidate } from "./retention.ts";
import { Count, EnvironmentName, Flag, Id, Instant, text } from "./values.ts";

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
  held_environments: z
    .array(z.string())
    .meta({ description: "Environments that the breaker held back.", examples: [["dev"]] }),
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

/** What a guard holds back until somebody says that it is meant (T26). */
export const SweepHold = z
  .strictObject({
    id: Id.nullable().meta({ description: "Null in a dry run, which raises none." }),
    kind: z.enum(["breaker", "clock"]).meta({
      description:
        "`breaker`: too much of an environment is due; `clock`: the database's clock has jumped, and nothing expires.",
    }),
    environment: z.string().nullable().meta({ description: "Null: it holds all of them." }),
    raised_at: Instant,
    due: Count.nullable().meta({ description: "breaker: tables that are due …" }),
    tables: Count.nullable().meta({ description: "… of so many that there are." }),
    share: z.number().nullable().meta({ description: "breaker: the share above which it holds." }),
    last_seen_at: Instant.nullable().meta({
      description: "clock: what the database's clock said before …",
    }),
    now: Instant.nullable().meta({ description: "… and what it said then." }),
    confirmed_by: z.string().nullable().meta({ description: "Null while it holds." }),
    confirmed_at: Instant.nullable(),
  })
  .meta({ id: "SweepHold" });

export const SweepHoldPage = page(SweepHold);

export const SweepHoldQuery = z.strictObject({
  all: Flag.optional().meta({
    description: "Also those that were confirmed, or went away by themselves.",
  }),
  ...pageQuery,
});

/** A dry run has `would_drop` and `held`, any other run `sweep`. */
export const SweepRun = z
  .strictObject({
    sweep: Sweep.nullable(),
    would_drop: z.array(SweepCandidate).nullable(),
    held: z
      .array(SweepHold)
      .nullable()
      .meta({ description: "What would be held back, and is not in `would_drop`." }),
  })
  .meta({ id: "SweepRun" });

/** What is meant, and may go on: exactly one of the three. */
export const SweepConfirmation = z
  .strictObject({
    hold_id: Id.optional().meta({ description: "This hold." }),
    environment: EnvironmentName.optional().meta({
      description: "What is held of this environment.",
    }),
    clock: z
      .literal(true, { error: "clock takes only true" })
      .optional()
      .meta({ description: "The database's clock is right, for sweeps and for purges." }),
  })
  .superRefine((confirmation, context) => {
    const given = Object.entries(confirmation).filter(([, value]) => value !== undefined);
    if (given.length === 1) return;
    const got = given.length === 0 ? "none" : given.map(([field]) => field).join(" and ");
    const message = `give exactly one of hold_id, environment and clock, not ${got}`;
    context.addIssue({ code: "custom", message });
  })
  .meta({
    id: "SweepConfirmation",
    description: "Exactly one of the three.",
    minProperties: 1,
    maxProperties: 1,
    examples: [{ environment: "dev" }, { clock: true }],
  });

/** What was confirmed; nothing where nothing was held. */
export const SweepConfirmed = z
  .strictObject({
    holds: z.array(SweepHold),
    purges: z
      .boolean()
      .meta({ description: "Whether purges waited for the clock, and go on now." }),
  })
  .meta({ id: "SweepConfirmed" });

export const PauseRequest = z
  .strictObject({ reason: text(1_000).optional() })
  .meta({ id: "PauseRequest", examples: [{ reason: "migration under way" }] });

export type SweepJson = z.output<typeof Sweep>;
export type SweepWithOutcomesJson = z.output<typeof SweepWithOutcomes>;
export type SweepHoldJson = z.output<typeof SweepHold>;
export type SweepConfirmationJson = z.output<typeof SweepConfirmation>;
export type SweepRunJson = z.output<typeof SweepRun>;
