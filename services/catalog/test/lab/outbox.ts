import { type DescMessage, fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Queryable } from "@lapse/kit";
import {
  DecisionSchema,
  EnvironmentChangedSchema,
  EnvironmentCreatedSchema,
  EnvironmentDeletedSchema,
  TableChangedSchema,
  TableCreatedSchema,
  TableDroppedSchema,
  TableKeptSchema,
  TablePurgedSchema,
  TableRestoredSchema,
} from "@lapse/proto/events";

/** An event of the outbox: its subject, and its message as JSON. */
export interface WrittenEvent {
  readonly subject: string;
  readonly message: JsonObject;
}

const SCHEMAS: readonly DescMessage[] = [
  DecisionSchema,
  EnvironmentChangedSchema,
  EnvironmentCreatedSchema,
  EnvironmentDeletedSchema,
  TableChangedSchema,
  TableCreatedSchema,
  TableDroppedSchema,
  TableKeptSchema,
  TablePurgedSchema,
  TableRestoredSchema,
];

/** What was committed to the outbox about one thing, in order. */
export async function writtenEvents(db: Queryable, about: string): Promise<WrittenEvent[]> {
  const { rows } = await db.query<{ subject: string; type: string; body: Buffer }>(
    "select subject, type, body from lapse_kit.outbox where event_subject = $1 order by position",
    [about],
  );
  return rows.map(({ subject, type, body }) => {
    const schema = SCHEMAS.find(({ typeName }) => typeName === type);
    if (!schema) throw new Error(`an event of type ${type} was not expected`);
    return { subject, message: toJson(schema, fromBinary(schema, body)) as JsonObject };
  });
}
