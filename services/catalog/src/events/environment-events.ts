import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { appendEvent, type Queryable, SUBJECTS } from "@lapse/kit";
import {
  EnvironmentChangedSchema,
  EnvironmentCreatedSchema,
  type EnvironmentSnapshotSchema,
} from "@lapse/proto/events";
import type { Environment } from "../domain/environment.ts";
import type { Origin } from "./table-events.ts";

const { environment: subjects } = SUBJECTS.catalog;

/** There is a new environment. */
export const publishEnvironmentCreated = (
  tx: Queryable,
  environment: Environment,
  origin: Origin,
) =>
  appendEvent(tx, {
    ...envelope(environment, origin),
    subject: subjects.created,
    schema: EnvironmentCreatedSchema,
    message: { environment: snapshot(environment), actor: origin.actor ?? "" },
  });

/** The environment was protected, unprotected or touched. */
export const publishEnvironmentChanged = (
  tx: Queryable,
  environment: Environment,
  origin: Origin,
) =>
  appendEvent(tx, {
    ...envelope(environment, origin),
    subject: subjects.changed,
    schema: EnvironmentChangedSchema,
    message: { environment: snapshot(environment), actor: origin.actor ?? "" },
  });

const envelope = ({ environmentId }: Environment, { traceparent }: Origin) => ({
  stream: "CATALOG" as const,
  subjectKey: environmentId,
  traceparent,
});

const snapshot = (
  environment: Environment,
): MessageInitShape<typeof EnvironmentSnapshotSchema> => ({
  environmentId: environment.environmentId,
  tenant: environment.tenant,
  name: environment.name,
  protected: environment.protected,
  changeVersion: environment.changeVersion,
  policyVersion: environment.policyVersion,
  createdAt: timestampFromDate(environment.createdAt),
});
