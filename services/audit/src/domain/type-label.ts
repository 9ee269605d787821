/** The types of decision that a metric names; every other is counted as `other`, so that labels stay few. */
const NAMED = new Set([
  "AUTHORIZATION_DENIED",
  "DECISIONS_LOST",
  "ENVIRONMENT_CREATED",
  "ENVIRONMENT_PROTECTED",
  "ENVIRONMENT_RETENTION_SET",
  "ENVIRONMENT_UNPROTECTED",
  "SWEEP_HELD",
  "SWEEP_PAUSED",
  "SWEEP_RESUMED",
  "TABLE_CREATED",
  "TABLE_DROPPED",
  "TABLE_DUE",
  "TABLE_KEPT",
  "TABLE_PURGED",
  "TABLE_PURGE_FAILED",
  "TABLE_RESTORED",
  "TABLE_RETENTION_CLEARED",
  "TABLE_RETENTION_SET",
]);

/** The label of a decision's type: itself where Lapse names it, else `other`. */
export function typeLabel(type: string): string {
  return NAMED.has(type) ? type : "other";
}
