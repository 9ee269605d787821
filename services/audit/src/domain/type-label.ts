/** The types of decision that a metric names; every other is counted as `other`, so that labels stay few. */
const NAMED = new Set([
  "AUTHORIZATION_DENIED",
  "ENVIRONMENT_RETENTION_SET",
  "SWEEP_HELD",
  "TABLE_DROPPED",
  "TABLE_KEPT",
  "TABLE_PURGED",
  "TABLE_RESTORED",
  "TABLE_RETENTION_CLEARED",
  "TABLE_RETENTION_SET",
]);

/** The label of a decision's type: itself where Lapse names it, else `other`. */
export function typeLabel(type: string): string {
  return NAMED.has(type) ? type : "other";
}
