import type { ExpiredRetention } from "../domain/due.ts";

/** Why a retention dropped a table, as the audit log has it (T32). */
export const retentionDetails = ({
  source,
  rule,
  setBy,
  lastActivityAt,
  expiredAt,
}: ExpiredRetention) => ({
  source,
  ...(rule.kind === "days" && { days: rule.days }),
  ...(rule.kind === "on" && { on: rule.on }),
  set_by: setBy,
  last_activity_at: lastActivityAt.toISOString(),
  expired_at: expiredAt.toISOString(),
});
