import { create, toBinary } from "@bufbuild/protobuf";
import { TableActivitySchema } from "@lapse/proto/events";
import type { Delivery, Nats } from "../../src/index.ts";

export const READ = "activity.table.read";

export const encodeActivity = (tableId: string): Uint8Array =>
  toBinary(TableActivitySchema, create(TableActivitySchema, { tableId }));

let messages = 0;

/** Publishes one activity per id, one after the other; each is a message of its own. */
export async function publishActivity(
  nats: Nats,
  ids: readonly string[],
  subject: string = READ,
): Promise<void> {
  for (const id of ids) {
    const msgId = `${id}-${process.pid}-${++messages}`;
    await nats.publish(subject, encodeActivity(id), { "ce-id": id }, { msgId });
  }
}

export const idOf = (delivery: Delivery): string => delivery.decode(TableActivitySchema).tableId;

/** `t<from>`, and so on, `count` of them. */
export const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `t${from + index}`);

/** A handler that remembers what it was given, in order. */
export function collect() {
  const seen: string[] = [];
  const handle = async (deliveries: readonly Delivery[]): Promise<void> => {
    seen.push(...deliveries.map(idOf));
  };
  return { seen, handle };
}
