import { recordReader } from "../read-record.ts";

/** A rule to set: exactly one of the three (T3). */
export type RetentionRule =
  /** So many days after the last activity, 1 to 3650. */
  | { readonly days: number }
  /** From midnight UTC of that day, `YYYY-MM-DD`, whatever the activity. */
  | { readonly on: string }
  /** Never, whatever the environment says. */
  | { readonly never: true };

/** When a table expires, and by which rule (T2). */
export type Retention = {
  /** Whose rule is in force; null: there is none, and the table does not expire. */
  readonly source: "table" | "environment" | null;
  readonly days: number | null;
  /** A day of the calendar, `YYYY-MM-DD`. */
  readonly on: string | null;
  readonly never: boolean;
  readonly set_by: string | null;
  readonly set_at: Date | null;
  readonly last_activity_at: Date | null;
  readonly last_activity_kind: string | null;
  readonly expires_at: Date | null;
  readonly expires_soon: boolean;
  /** What keeps it for ever, although a rule would expire it. */
  readonly kept: "protected" | "project_asset" | null;
  /** In the answer to a change: whether the table now expires sooner; null when that could not be told. */
  readonly shortened?: boolean | null;
};

const INSTANTS = { set_at: "instant", last_activity_at: "instant", expires_at: "instant" } as const;

export const readRetention = recordReader<Retention>(INSTANTS);

/** A table that expires, in a list (T11). */
export type ExpiringTable = Retention & {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly full_name: string;
};

export const readExpiringTable = recordReader<ExpiringTable>(INSTANTS);

/** A table that a sweep would drop. */
export type SweepCandidate = ExpiringTable & { readonly environment: string };

export const readSweepCandidate = recordReader<SweepCandidate>(INSTANTS);
