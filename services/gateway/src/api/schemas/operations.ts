import * as z from "zod";
import { page, pageQuery } from "./pages.ts";
import { Sweep, SweepHold } from "./sweep.ts";
import { Count, Instant } from "./values.ts";

/** How the system does. A service that is away is in the list; the answer is there all the same. */
export const SystemStatus = z
  .strictObject({
    services: z.array(z.strictObject({ name: z.string(), ok: z.boolean(), detail: z.string() })),
    evaluator: z
      .strictObject({
        folds: z.array(
          z.strictObject({
            stream: z.string().meta({ examples: ["ACTIVITY"] }),
            folded: Count,
            last: Count,
            broker_reachable: z.boolean(),
            missing: Count.meta({ description: "Events known to be missing and asked for again." }),
          }),
        ),
        sweeps: z.strictObject({
          paused: z.boolean(),
          paused_by: z.string().nullable(),
          pause_reason: z.string().nullable(),
          interval_seconds: Count.meta({ description: "0: sweeps are off, and nothing expires." }),
          next_at: Instant.nullable(),
          last: Sweep.nullable(),
          holds: z.array(SweepHold).nullable().meta({
            description:
              "What waits for a confirmation, the first hundred; null: not known, or not for this caller.",
          }),
          scheduler: z.string().nullable().meta({ description: "Which process holds the lease." }),
        }),
      })
      .nullable()
      .meta({
        description: "Null while the evaluator does not answer, or to who may not read tables.",
      }),
    purges: z
      .strictObject({
        waiting: Count.meta({ description: "Dropped tables whose files are to be deleted." }),
        clock_hold: z
          .strictObject({
            raised_at: Instant,
            last_seen_at: Instant,
            now: Instant,
            confirmed_by: z.string().nullable(),
          })
          .nullable()
          .meta({
            description:
              "The database's clock has jumped: no files are deleted until it is confirmed; null: it has not.",
          }),
      })
      .nullable()
      .meta({ description: "Null while the catalog does not answer, or not to this caller." }),
    outboxes: z.array(
      z.strictObject({
        service: z.string(),
        unsent: Count,
        oldest_unsent_at: Instant.nullable(),
      }),
    ),
  })
  .meta({ id: "SystemStatus" });

/** A message that was set aside because it could not be handled. */
const ParkedMessage = z
  .strictObject({
    id: z.string(),
    stream: z.string(),
    subject: z.string(),
    reason: z.string(),
    consumer: z.string().nullable(),
    deliveries: Count,
    parked_at: Instant,
  })
  .meta({ id: "ParkedMessage" });

export const ParkedPage = page(ParkedMessage);

export const ParkedQuery = z.strictObject({
  stream: z
    .string()
    .regex(/^[A-Z]{1,20}$/, { error: "give the name of a stream, such as ACTIVITY" })
    .optional()
    .meta({ description: "Only what came from this stream." }),
  ...pageQuery,
});

export type SystemStatusJson = z.output<typeof SystemStatus>;
export type ParkedMessageJson = z.output<typeof ParkedMessage>;
