import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { TableExpiry } from "@lapse/proto/evaluator";
import type { TableRule } from "@lapse/proto/events";
import { expiresSoon } from "@lapse/rules";
import type { RetentionSet } from "../../app/table-retention.ts";
import type { ExpiringTableJson, RetentionJson, RetentionSetJson } from "../schemas/retention.ts";
import { instantOrNull, oneOfOrNull, textOrNull } from "./values.ts";

const NO_RETENTION: RetentionJson = {
  source: null,
  days: null,
  on: null,
  never: false,
  set_by: null,
  set_at: null,
  last_activity_at: null,
  last_activity_kind: null,
  expires_at: null,
  expires_soon: false,
  kept: null,
};

/** Undefined: the table is of a kind that has no retention. */
export function renderRetention(expiry: TableExpiry | undefined): RetentionJson {
  if (!expiry) return NO_RETENTION;
  return {
    source: oneOfOrNull(["table", "environment"], expiry.source, "expiry.source"),
    ...renderRule(expiry.rule),
    set_by: textOrNull(expiry.setBy),
    set_at: instantOrNull(expiry.setAt),
    last_activity_at: instantOrNull(expiry.lastActivityAt),
    last_activity_kind: textOrNull(expiry.lastActivityKind),
    expires_at: instantOrNull(expiry.expiresAt),
    expires_soon: expiry.expiresSoon,
    kept: oneOfOrNull(["protected", "project_asset"], expiry.kept, "expiry.kept"),
  };
}

export const renderExpiringTable = (expiry: TableExpiry): ExpiringTableJson => ({
  id: expiry.tableId,
  full_name: `${expiry.namespace}.${expiry.name}`,
  namespace: expiry.namespace,
  name: expiry.name,
  ...renderRetention(expiry),
});

/**
 * The retention right after it was set: the change is the last activity (T5), and what expires soon is
 * judged by the instant of the change, so nothing but the answer itself is needed.
 */
export function renderRetentionSet(
  { table, answer }: RetentionSet,
  warningWindowMs: number,
): RetentionSetJson {
  const { retention, shortened } = answer;
  const rule = renderRule(retention?.rule);
  const kept = !rule.never && table.projectAsset ? "project_asset" : null;
  const expiresAt = kept === null && answer.expiresAt ? timestampDate(answer.expiresAt) : null;
  const setAt = retention?.setAt && timestampDate(retention.setAt);
  return {
    source: "table",
    ...rule,
    set_by: textOrNull(retention?.setBy ?? ""),
    set_at: setAt?.toISOString() ?? null,
    last_activity_at: instantOrNull(answer.lastActivityAt),
    last_activity_kind: answer.lastActivityAt ? "changed" : null,
    expires_at: expiresAt?.toISOString() ?? null,
    expires_soon: setAt !== undefined && expiresSoon({ expiresAt }, setAt, warningWindowMs),
    kept,
    shortened: shortened ?? null,
  };
}

function renderRule(rule: TableRule | undefined): Pick<RetentionJson, "days" | "on" | "never"> {
  switch (rule?.rule.case) {
    case "days":
      return { days: rule.rule.value, on: null, never: false };
    case "on":
      return { days: null, on: rule.rule.value, never: false };
    case "never":
      return { days: null, on: null, never: true };
    case undefined:
      return { days: null, on: null, never: false };
  }
}
