import * as z from "zod";
import { page, pageQuery } from "./pages.ts";
import { Count, GivenInstant, Instant, text } from "./values.ts";

/** A decision as recorded. */
const DecisionRecord = z
  .strictObject({
    id: z.string(),
    seq: Count.meta({ description: "Position in the tenant's chain, from 1, without gaps." }),
    at: Instant,
    type: z.string().meta({ examples: ["TABLE_DROPPED"] }),
    service: z.string(),
    tenant: z.string(),
    actor: z.string().nullable().meta({ description: "Null: a worker decided by itself." }),
    resource: z.strictObject({
      kind: z.string(),
      id: z.string(),
      name: z.string(),
      environment: z.string().nullable(),
    }),
    outcome: z.enum(["done", "kept", "refused", "failed"]),
    reason: z.string().meta({ examples: ["retention"] }),
    details: z.record(z.string(), z.unknown()),
    run_id: z.string().nullable(),
    trace_id: z.string().nullable(),
    hash: z.string().meta({ description: "Over the record before it and this one." }),
  })
  .meta({ id: "DecisionRecord" });

export const DecisionPage = page(DecisionRecord);

const filter = {
  type: text(200).min(1).optional(),
  resource: text(2_000).min(1).optional().meta({ description: "Id or name of the resource." }),
  actor: text(200).min(1).optional(),
  since: GivenInstant.optional(),
  until: GivenInstant.optional(),
  run_id: text(200).min(1).optional().meta({ description: "Of the sweep that decided." }),
};

export const DecisionQuery = z.strictObject({ ...filter, ...pageQuery });

const Seq = z.coerce.number({ error: "give the seq of a record" }).int().min(0);

export const WatchQuery = z.strictObject({
  ...filter,
  after: Seq.optional().meta({
    description: "Start after this seq; absent: from now on. `Last-Event-ID` wins over it.",
  }),
});

export const WatchHeaders = z.looseObject({
  "last-event-id": Seq.optional().meta({
    description: "The last seq that was received, as a browser sends it when it connects again.",
  }),
});

/** Whether the caller's chain of decisions is whole. */
export const ChainVerification = z
  .strictObject({
    ok: z.boolean(),
    records: Count,
    head_hash: z.string(),
    broken_at_seq: Count.nullable().meta({ description: "The first record that does not fit." }),
    fault: z.string().nullable(),
    gaps: z
      .array(z.strictObject({ source: z.string(), from: Count, to: Count }))
      .meta({ description: "Decisions that a service has sent and that have not arrived." }),
  })
  .meta({ id: "ChainVerification" });

export type DecisionRecordJson = z.output<typeof DecisionRecord>;
export type DecisionFilterJson = Omit<z.output<typeof WatchQuery>, "after">;
export type ChainVerificationJson = z.output<typeof ChainVerification>;
