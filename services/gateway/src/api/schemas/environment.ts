import * as z from "zod";
import { page } from "./pages.ts";
import { Days } from "./retention.ts";
import { EnvironmentName, Id, Instant, Rights } from "./values.ts";

/** An environment with its retention. */
export const Environment = z
  .strictObject({
    id: Id,
    name: EnvironmentName,
    protected: z.boolean().meta({ description: "Its tables never expire." }),
    retention_days: Days.nullable().meta({ description: "Null: it has no retention." }),
    retention_set_by: z.string().nullable(),
    retention_set_at: Instant.nullable(),
    retention_unknown: z.boolean().meta({
      description:
        "True while retention-policy does not answer: the retention is then null without meaning none.",
    }),
    table_bucket: z.string(),
    created_by: z.string(),
    created_at: Instant,
    rights: Rights,
  })
  .meta({ id: "Environment" });

export const EnvironmentPage = page(Environment);

export const NewEnvironment = z
  .strictObject({
    name: EnvironmentName,
    protected: z.boolean().optional().meta({ description: "False unless given." }),
  })
  .meta({ id: "NewEnvironment", examples: [{ name: "dev" }] });

export const EnvironmentChange = z
  .strictObject({ protected: z.boolean() })
  .meta({ id: "EnvironmentChange", examples: [{ protected: true }] });

/** An environment's own retention (T7). */
export const EnvironmentRetention = z
  .strictObject({
    days: Days.nullable(),
    set_by: z.string().nullable(),
    set_at: Instant.nullable(),
    previous_days: Days.nullable()
      .optional()
      .meta({ description: "In the answer to a change: what it was before." }),
  })
  .meta({ id: "EnvironmentRetention" });

export type EnvironmentJson = z.output<typeof Environment>;
export type EnvironmentRetentionJson = z.output<typeof EnvironmentRetention>;
