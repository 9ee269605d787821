import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@lapse/kit";
import { ActivityBatchSchema, type TableActivity, TableActivitySchema } from "@lapse/proto/events";
import type { Aim, Operation } from "../rules/operation.ts";
import { DAY_MS } from "../rules/span.ts";
import { idIn } from "./aim.ts";
import type { Stack } from "./stack.ts";
import type { Answer, Subject } from "./subject.ts";

const MINUTE_MS = 60_000;

/** Publishes a use as another system would, so often. */
export async function reportUse(
  { nats }: Stack,
  { tenant, environment }: Subject,
  { use, time, form, times }: Extract<Operation, { kind: "use" }>,
  aim: Aim | undefined,
): Promise<Answer> {
  const now = Date.now();
  const occurredAt =
    time.kind === "unsaid"
      ? undefined
      : time.kind === "ago"
        ? now - time.days * DAY_MS
        : now + time.minutes * MINUTE_MS;
  const table =
    aim?.by === "name" ? { tenant, environment, name: `${aim.namespace}.${aim.name}` } : undefined;
  const body = encoded(form, {
    ...(table ? { table } : { tableId: idIn(aim) }),
    ...(occurredAt !== undefined && { occurredAt: new Date(occurredAt) }),
  });
  for (let nth = 0; nth < times; nth++) {
    await nats.publish(`activity.table.${use}`, body, { "ce-source": "model" }, { msgId: newId() });
  }
  return { ...(occurredAt !== undefined && { occurredAt }) };
}

interface Use {
  readonly tableId?: string;
  readonly table?: Omit<NonNullable<TableActivity["table"]>, "$typeName">;
  readonly occurredAt?: Date;
}

function encoded(form: "json" | "protobuf" | "batch", use: Use): Uint8Array {
  if (form === "json") return Buffer.from(JSON.stringify(use));
  const { occurredAt, ...what } = use;
  const message = { ...what, ...(occurredAt && { occurredAt: timestampFromDate(occurredAt) }) };
  return form === "protobuf"
    ? toBinary(TableActivitySchema, create(TableActivitySchema, message))
    : toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events: [message] }));
}
