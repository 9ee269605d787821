import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { appendEvent, type Queryable, SUBJECTS } from "@lapse/kit";
import {
  EnvironmentRetentionClearedSchema,
  EnvironmentRetentionSetSchema,
} from "@lapse/proto/events";
import { retentionOf } from "../domain/environment-setting.ts";
import type { StoredEnvironmentRetention } from "../store/environment-retention.ts";

/**
 * Says what an environment's retention is as of its version: `policy.environment.set`, or where it has none
 * (turned off, or never set) `policy.environment.cleared`. Sent once the transaction has committed.
 */
export async function publishEnvironmentRetention(
  tx: Queryable,
  { environmentId, tenant, rule, version }: StoredEnvironmentRetention,
): Promise<void> {
  const about = {
    environmentId,
    tenant,
    policyVersion: version,
    ...(rule !== null && { setBy: rule.setBy, setAt: timestampFromDate(rule.setAt) }),
  };
  const retention = retentionOf(rule);
  if (retention === null) {
    await appendEvent(tx, {
      stream: "POLICY",
      subject: SUBJECTS.policy.environment.cleared,
      schema: EnvironmentRetentionClearedSchema,
      message: about,
      subjectKey: environmentId,
    });
    return;
  }
  await appendEvent(tx, {
    stream: "POLICY",
    subject: SUBJECTS.policy.environment.set,
    type: EnvironmentRetentionSetSchema.typeName,
    schema: EnvironmentRetentionSetSchema,
    message: { ...about, days: retention.days },
    subjectKey: environmentId,
  });
}
