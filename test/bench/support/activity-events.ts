import { randomUUID } from "node:crypto";
import type { Nats } from "@lapse/kit";

const IN_FLIGHT = 64;

/** Reads to publish: which tables, how many events in all, and how many in a message. */
export interface ReadsToPublish {
  readonly tableIds: readonly string[];
  readonly events: number;
  readonly perMessage: number;
}

/** Publishes reads of tables at random as a reader's SDK packs them; the sequence of the last message. */
export async function publishReads(
  nats: Nats,
  { tableIds, events, perMessage }: ReadsToPublish,
): Promise<bigint> {
  const ids = tableIds.map((id) => Buffer.from(id, "latin1"));
  const messages = Math.ceil(events / perMessage);
  let next = 0;
  let last = 0;
  const publisher = async () => {
    while (next < messages) {
      next += 1;
      const body = encodeReads(ids, perMessage, Date.now());
      const { seq } = await nats.publish("activity.table.read", body, HEADERS, {
        msgId: randomUUID(),
      });
      last = Math.max(last, seq);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, publisher));
  return BigInt(last);
}

const HEADERS = { "content-type": "application/protobuf" };
const SOURCE = Buffer.from("trino");

/** An `ActivityBatch`. Written out here because the generated code would take longer than what is measured. */
function encodeReads(ids: readonly Buffer[], count: number, now: number): Uint8Array {
  const body = Buffer.allocUnsafe(count * 80);
  let at = 0;
  for (let nth = 0; nth < count; nth += 1) {
    const id = ids[Math.floor(Math.random() * ids.length)] ?? Buffer.alloc(0);
    at = body.writeUInt8((15 << 3) | 2, at);
    const lengthAt = at;
    at += 1;
    at = body.writeUInt8((1 << 3) | 2, at);
    at = body.writeUInt8(id.length, at);
    at += id.copy(body, at);
    at = body.writeUInt8((3 << 3) | 2, at);
    const timeLengthAt = at;
    at += 1;
    const time = now - Math.floor(Math.random() * 1_000);
    at = body.writeUInt8(1 << 3, at);
    at = writeVarint(body, Math.floor(time / 1_000), at);
    at = body.writeUInt8(2 << 3, at);
    at = writeVarint(body, (time % 1_000) * 1_000_000, at);
    body.writeUInt8(at - timeLengthAt - 1, timeLengthAt);
    at = body.writeUInt8((4 << 3) | 2, at);
    at = body.writeUInt8(SOURCE.length, at);
    at += SOURCE.copy(body, at);
    body.writeUInt8(at - lengthAt - 1, lengthAt);
  }
  return body.subarray(0, at);
}

function writeVarint(body: Buffer, value: number, at: number): number {
  let rest = value;
  let end = at;
  while (rest > 127) {
    end = body.writeUInt8((rest % 128) | 128, end);
    rest = Math.floor(rest / 128);
  }
  return body.writeUInt8(rest, end);
}
