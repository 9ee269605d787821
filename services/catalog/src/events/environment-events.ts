import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type OutboxEvent, SUBJECTS } from "@lapse/kit";
import {
  EnvironmentChangedSchema,
  EnvironmentCreatedSchema,
  EnvironmentDeletedSchema,
  type EnvironmentSnapshotSchema,
} from "@lapse/proto/events";
import type { Environment } from "../domain/environment.ts";
import type { Origin } from "./table-events.ts";

const { environment: subjects } = SUBJECTS.catalog;

/** There is a new environment. */
export const environmentCreated = (
  environment: Environment,
  origin: Origin,
): OutboxEvent<typeof EnvironmentCreatedSchema> => ({
  ...about(environment, origin),
  subject: subjects.created,
  schema: EnvironmentCreatedSchema,
  message: { environment: snapshot(environment), actor: origin.actor ?? "" },
});

/** The environment was protected, unprotected or touched. */
export const environmentChanged = (
  environment: Environment,
  origin: Origin,
): OutboxEvent<typeof EnvironmentChangedSchema> => ({
  ...about(environment, origin),
  subject: subjects.changed,
  schema: EnvironmentChangedSchema,
  message: { environment: snapshot(environment), actor: origin.actor ?? "" },
});

/** The environment is gone for good. */
export const environmentDeleted = (
  environment: Environment,
  origin: Origin,
): OutboxEvent<typeof EnvironmentDeletedSchema> => ({
  ...about(environment, origin),
  subject: subjects.deleted,
  schema: EnvironmentDeletedSchema,
  message: { environment: snapshot(environment), actor: origin.actor ?? "" },
});

const about = ({ environmentId }: Environment, { traceparent }: Origin) => ({
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
