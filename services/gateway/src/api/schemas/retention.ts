import { MAX_DAYS, parseDays, parseOn, type RetentionField } from "@lapse/rules";
import * as z from "zod";
import { EnvironmentName, Id, Instant, Namespace, TableName } from "./values.ts";

/** Whatever its type, a number of days is refused by the rule's own sentence: a duration or a date gets one that says so (T10). */
const daysFault = ({ input }: { input?: unknown }): string | undefined => {
  const checked = parseDays(input);
  return checked.ok ? undefined : checked.fault.message;
};

/** Before every day there is: whether a day is still to come is retention-policy's to say, by the database's clock. */
const BEFORE_ALL_DAYS = new Date(-8.64e15);

const onFault = ({ input }: { input?: unknown }): string | undefined => {
  const checked = parseOn(input, BEFORE_ALL_DAYS);
  return checked.ok ? undefined : checked.fault.message;
};

/** Days of a retention, from 1 to 3650. */
export const Days = z
  .int({ error: daysFault })
  .min(1, { error: daysFault })
  .max(MAX_DAYS, { error: daysFault })
  .meta({ examples: [30] });

/** A day of the calendar, `YYYY-MM-DD`. */
const Day = z.iso.date({ error: onFault }).meta({ examples: ["2026-12-31"] });

const FIELDS: readonly RetentionField[] = ["days", "on", "never"];

/** A table's retention to set: exactly one of the three (T3). */
export const RetentionRule = z
  .strictObject({
    days: Days.optional().meta({ description: "It expires so many days after its last activity." }),
    on: Day.optional().meta({ description: "It expires at midnight UTC of that day." }),
    never: z
      .literal(true, { error: "never takes only true" })
      .optional()
      .meta({ description: "It never expires, whatever its environment says." }),
  })
  .superRefine((rule, context) => {
    const given = FIELDS.filter((field) => rule[field] !== undefined);
    if (given.length === 1) return;
    const got = given.length === 0 ? "none" : given.join(" and ");
    const message = `give exactly one of days, on and never, not ${got}`;
    context.addIssue({ code: "custom", message });
  })
  .meta({
    id: "RetentionRule",
    description: "Exactly one of the three.",
    minProperties: 1,
    maxProperties: 1,
    examples: [{ days: 30 }, { on: "2026-12-31" }, { never: true }],
  });

/** An environment's retention to set; null turns it off (T7). */
export const EnvironmentDays = z
  .strictObject({
    days: Days.nullable().meta({
      description: "For every managed table without a rule of its own; null: none.",
    }),
  })
  .meta({ id: "EnvironmentDays", examples: [{ days: 30 }, { days: null }] });

const retention = {
  source: z
    .enum(["table", "environment"])
    .nullable()
    .meta({ description: "Whose rule is in force; null: there is none, and it does not expire." }),
  days: Days.nullable(),
  on: z.iso.date().nullable(),
  never: z.boolean(),
  set_by: z.string().nullable(),
  set_at: Instant.nullable(),
  last_activity_at: Instant.nullable(),
  last_activity_kind: z
    .string()
    .nullable()
    .meta({ examples: ["read"] }),
  expires_at: Instant.nullable().meta({ description: "Null: it does not expire." }),
  expires_soon: z.boolean().meta({ description: "Within the warning window." }),
  kept: z
    .enum(["protected", "project_asset"])
    .nullable()
    .meta({ description: "What keeps it for ever, although a rule would expire it." }),
};

/** When a table expires, and by which rule (T2). */
export const Retention = z.strictObject(retention).meta({ id: "Retention" });

/** The answer to a change of a table's retention. */
export const RetentionSet = z
  .strictObject({
    ...retention,
    shortened: z.boolean().nullable().meta({
      description:
        "Whether it now expires sooner than before, or at all; null: that could not be told.",
    }),
  })
  .meta({ id: "RetentionSet" });

const listed = {
  id: Id,
  full_name: z.string().meta({ examples: ["bronze.trial"] }),
  namespace: Namespace,
  name: TableName,
  ...retention,
};

/** A table that expires, in a list (T11). */
export const ExpiringTable = z.strictObject(listed).meta({ id: "ExpiringTable" });

/** A table that a sweep would drop. */
export const SweepCandidate = z
  .strictObject({ ...listed, environment: EnvironmentName })
  .meta({ id: "SweepCandidate" });

export type RetentionJson = z.output<typeof Retention>;
export type RetentionSetJson = z.output<typeof RetentionSet>;
export type ExpiringTableJson = z.output<typeof ExpiringTable>;
export type SweepCandidateJson = z.output<typeof SweepCandidate>;
