import type { EnvironmentRetention } from "@lapse/proto/policy";
import type { EnvironmentView } from "../../app/environment-retention.ts";
import type { EnvironmentJson, EnvironmentRetentionJson } from "../schemas/environment.ts";
import { instant, instantOrNull, textOrNull } from "./values.ts";

export function renderEnvironment({ environment, retention }: EnvironmentView): EnvironmentJson {
  const unknown = retention === "unknown";
  const known = renderEnvironmentRetention(unknown ? undefined : retention);
  return {
    id: environment.environmentId,
    name: environment.name,
    protected: environment.protected,
    retention_days: known.days,
    retention_set_by: known.set_by,
    retention_set_at: known.set_at,
    retention_unknown: unknown,
    table_bucket: environment.tableBucket,
    created_by: environment.createdBy,
    created_at: instant(environment.createdAt, "environment.created_at"),
    rights: environment.rights,
  };
}

export const renderEnvironmentRetention = (
  retention: EnvironmentRetention | undefined,
): EnvironmentRetentionJson => ({
  days: retention?.days ?? null,
  set_by: textOrNull(retention?.setBy ?? ""),
  set_at: instantOrNull(retention?.setAt),
});
