import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId, type Principal } from "@lapse/kit";
import { ActivityBatchSchema } from "@lapse/proto/events";

export type ActivityKind = "read" | "written" | "maintained" | "changed";

/** A use of a table, ready to be published. */
export interface TableUse {
  readonly kind: ActivityKind;
  readonly tableId: string;
  /** Absent: when the broker stores the message. */
  readonly occurredAt: Date | undefined;
  readonly source: string | undefined;
}

/** One message for the stream of activity. */
export interface ActivityMessage {
  /** For the stream to tell a repeat by. */
  readonly id: string;
  readonly kind: ActivityKind;
  readonly body: Uint8Array;
}

/** Uses in one message, at most: some 100 kB, far below what the broker takes. */
const USES_A_MESSAGE = 500;

/**
 * The uses of one request as messages, each of one kind. With an idempotency key the ids come from caller,
 * key and content, so that a repeated request makes the same messages and the stream keeps one of each;
 * without one every request is an occurrence of its own.
 */
export function activityMessages(
  uses: readonly TableUse[],
  { subject, tenant }: Pick<Principal, "subject" | "tenant">,
  idempotencyKey: string | undefined,
): ActivityMessage[] {
  const kinds = [...new Set(uses.map(({ kind }) => kind))];
  return kinds.flatMap((kind) => {
    const ofKind = uses.filter((use) => use.kind === kind);
    return chunks(ofKind, USES_A_MESSAGE).map((chunk, index) => {
      const events = chunk.map((use) => encodeUse(use, subject));
      const body = toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events }));
      const scope = [tenant, subject, idempotencyKey, kind, String(index)];
      return { id: idempotencyKey === undefined ? newId() : digest(scope, body), kind, body };
    });
  });
}

const encodeUse = ({ tableId, occurredAt, source }: TableUse, actor: string) => ({
  tableId,
  actor,
  ...(occurredAt && { occurredAt: timestampFromDate(occurredAt) }),
  ...(source !== undefined && { source }),
});

const digest = (scope: readonly unknown[], body: Uint8Array): string =>
  createHash("sha256").update(JSON.stringify(scope)).update(body).digest("hex");

function chunks<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
