import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { ActivityBatchSchema, TableActivitySchema } from "@lapse/proto/events";
import fc from "fast-check";
import { encodeHeaders } from "./cloud-events.ts";
import { toDelivery } from "./delivery.ts";
import { lowerCaseNames } from "./delivery-headers.ts";

const storedAt = new Date("2026-05-01T10:00:00.000Z");
const message = create(TableActivitySchema, {
  tableId: "t1",
  occurredAt: timestampFromDate(new Date("2026-05-01T09:00:00.000Z")),
});
const json = JSON.stringify(toJson(TableActivitySchema, message));
const bytes = (text: string) => new TextEncoder().encode(text);

const arrive = (body: Uint8Array, headers: Record<string, string> = {}) =>
  toDelivery({
    stream: "ACTIVITY",
    subject: "activity.table.read",
    streamSequence: 7n,
    deliveryCount: 1,
    storedAt,
    headers: lowerCaseNames(Object.entries(headers)),
    body,
  });

const idOf = (body: Uint8Array, headers?: Record<string, string>) =>
  arrive(body, headers).decode(TableActivitySchema).tableId;

const unreadable = expect.objectContaining({ kind: "invalid", reason: "EVENT_UNREADABLE" });

describe("an event in binary mode", () => {
  test("comes back as it was sent, whatever its attributes", () => {
    const text = fc.string({ minLength: 1, unit: "binary" });
    fc.assert(
      fc.property(
        text,
        text,
        text,
        text,
        fc.bigInt(0n, 10n ** 17n),
        (id, type, source, about, n) => {
          const event = {
            id,
            type,
            source,
            time: storedAt,
            subject: about,
            sequence: n,
            contentType: "application/protobuf",
            traceparent: undefined,
          };
          const { event: read } = arrive(
            toBinary(TableActivitySchema, message),
            encodeHeaders(event),
          );
          expect(read).toEqual(event);
        },
      ),
    );
  });

  test("is read with header names in any case", () => {
    const { event } = arrive(new Uint8Array(), {
      "Ce-Id": "e1",
      "CE-TYPE": "x",
      "cE-Source": "trino",
      "Content-Type": "application/protobuf",
    });
    expect(event).toMatchObject({ id: "e1", type: "x", source: "trino" });
  });

  test("takes what is missing from the message: id, type and time", () => {
    expect(arrive(new Uint8Array(), { "Nats-Msg-Id": "m1" }).event).toMatchObject({
      id: "m1",
      type: "activity.table.read",
      source: "",
      time: storedAt,
      sequence: undefined,
    });
    expect(arrive(new Uint8Array()).event.id).toBe("ACTIVITY:7");
  });

  test("takes a time or number in a form of its publisher's own for missing, so that a read still counts", () => {
    const { event } = arrive(new Uint8Array(), { "ce-time": "yesterday", "ce-sequence": "abc" });
    expect(event).toMatchObject({ time: storedAt, sequence: undefined });
  });

  test("with an attribute that is not UTF-8 cannot be read", () => {
    expect(() => arrive(new Uint8Array(), { "ce-subject": "%FF" })).toThrow(unreadable);
  });
});

describe("the body", () => {
  test("is read as protobuf or as JSON, as its content type says", () => {
    const body = toBinary(TableActivitySchema, message);
    expect(idOf(body, { "content-type": "application/protobuf" })).toBe("t1");
    expect(idOf(bytes(` ${json}`), { "content-type": "application/json; charset=utf-8" })).toBe(
      "t1",
    );
  });

  test("without a content type is told by its first byte", () => {
    expect(idOf(toBinary(TableActivitySchema, message))).toBe("t1");
    expect(idOf(bytes(json))).toBe("t1");
    expect(idOf(Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes(json)]))).toBe("t1");
  });

  test("no message of ours begins like JSON", () => {
    const field = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(field, field, field, (tableId, source, actor) => {
        const one = create(TableActivitySchema, { tableId, source, actor });
        const batch = create(ActivityBatchSchema, { events: [one] });
        expect(toBinary(TableActivitySchema, one)[0]).not.toBe(0x7b);
        expect(toBinary(ActivityBatchSchema, batch)[0]).not.toBe(0x7b);
      }),
    );
  });

  test("may hold fields that this release does not know", () => {
    expect(idOf(bytes('{"tableId":"t1","madeUpLater":{"x":1}}'))).toBe("t1");
  });

  test.each([
    ["truncated JSON", '{"tableId":'],
    ["JSON of another shape", '{"tableId":{"x":1}}'],
    ["a list", "[]"],
    ["JSON that is not UTF-8", Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ])("%s cannot be read", (_what, body) => {
    const raw = typeof body === "string" ? bytes(body) : body;
    expect(() => idOf(raw, { "content-type": "application/json" })).toThrow(unreadable);
  });

  test("bytes that are no protobuf cannot be read", () => {
    const garbage = Uint8Array.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff]);
    expect(() => idOf(garbage)).toThrow(unreadable);
  });

  test("whatever the bytes, they are read or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (body) => {
        try {
          idOf(body);
        } catch (error) {
          expect(error).toEqual(unreadable);
        }
      }),
    );
  });
});

describe("an event in structured mode", () => {
  const envelope = (extra: object) =>
    JSON.stringify({
      specversion: "1.0",
      id: "e1",
      type: "read",
      source: "trino",
      time: "2026-05-01T08:00:00Z",
      subject: "t1",
      ...extra,
    });
  const attributes = {
    id: "e1",
    type: "read",
    source: "trino",
    subject: "t1",
    time: new Date("2026-05-01T08:00:00Z"),
  };
  const header = { "content-type": "application/cloudevents+json; charset=UTF-8" };

  test.each([
    ["with its content type", header],
    ["without any header", {}],
  ])("%s is read with its data", (_how, headers) => {
    const delivery = arrive(bytes(envelope({ data: JSON.parse(json) })), headers);
    expect(delivery.event).toMatchObject(attributes);
    expect(delivery.decode(TableActivitySchema).tableId).toBe("t1");
  });

  test("may carry protobuf as data_base64", () => {
    const data = Buffer.from(toBinary(TableActivitySchema, message)).toString("base64");
    const body = envelope({ data_base64: data, datacontenttype: "application/protobuf" });
    expect(idOf(bytes(body))).toBe("t1");
    expect(idOf(bytes(envelope({ data_base64: data })))).toBe("t1");
  });

  test("without data has an empty body", () => {
    expect(arrive(bytes(envelope({}))).body.length).toBe(0);
    expect(arrive(bytes(envelope({ data: null }))).body.length).toBe(0);
  });

  test("keeps text that is not JSON as text", () => {
    const { body } = arrive(bytes(envelope({ data: "a,b", datacontenttype: "text/csv" })));
    expect(new TextDecoder().decode(body)).toBe("a,b");
  });

  test("JSON that is not an envelope is the body itself", () => {
    expect(idOf(bytes('{"tableId":"t1","source":"trino"}'))).toBe("t1");
  });

  test("a body in binary mode is not taken for an envelope, though it looks like one", () => {
    const body = bytes(envelope({ data: { tableId: "inner" } }));
    const headers = { "ce-specversion": "1.0", "ce-id": "outer" };
    expect(arrive(body, headers).event.id).toBe("outer");
    expect(arrive(body, headers).body).toEqual(body);
  });

  test.each([
    ["damaged base64", envelope({ data_base64: "!!!" }), header],
    ["an envelope without an id", '{"specversion":"1.0","type":"x","source":"y"}', header],
    ["another format", "<event/>", { "content-type": "application/cloudevents+xml" }],
    ["a batch", "[]", { "content-type": "application/cloudevents-batch+json" }],
  ])("%s cannot be read", (_what, body, headers) => {
    expect(() => arrive(bytes(body), headers)).toThrow(unreadable);
  });
});
