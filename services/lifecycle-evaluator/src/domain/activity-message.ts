import type { PackedActivities } from "./packed-activities.ts";

/** What the subject `activity.table.<kind>` may say. */
export const REPORTED_KINDS = ["read", "written", "maintained", "changed"] as const;
export type ReportedKind = (typeof REPORTED_KINDS)[number];

/** The most activities one message may carry (T14). */
export const MAX_ACTIVITIES = 10_000;

/** One activity as somebody reported it, unchecked. */
export interface ReportedActivity {
  /** Empty: by name. */
  readonly tableId: string;
  readonly table: ReportedName | null;
  /** ms since the epoch, any number; null: not said. */
  readonly occurredAt: number | null;
  /** Empty: not said. */
  readonly source: string;
}

/** A table by name as reported, unchecked. */
interface ReportedName {
  readonly tenant: string;
  readonly environment: string;
  readonly name: string;
}

/** The activities of one message. */
export interface ActivityMessage {
  readonly kind: ReportedKind;
  /** When the broker stored it, in ms since the epoch: the time of what does not say when it happened. */
  readonly storedAt: number;
  /** Who sent it, where an activity does not say who saw it. */
  readonly sender: string;
  readonly activities: readonly ReportedActivity[] | PackedActivities;
}

/** An activity of a message that could not be counted, and why. */
export interface RefusedActivity {
  readonly message: ActivityMessage;
  readonly activity: ReportedActivity;
  readonly reason: string;
}
