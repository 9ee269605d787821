import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readEvents } from "./server-sent-events.ts";

async function* chunks(...texts: (string | Uint8Array)[]) {
  for (const text of texts) yield typeof text === "string" ? Buffer.from(text) : text;
}
const read = async (...texts: (string | Uint8Array)[]) => {
  const events = [];
  for await (const event of readEvents(chunks(...texts))) events.push(event);
  return events;
};

describe("readEvents", () => {
  test("reads id, event and data", async () => {
    expect(await read("id: 4\nevent: decision\ndata: {}\n\n")).toEqual([
      { id: "4", event: "decision", data: "{}" },
    ]);
  });

  test("passes comments, unknown fields and blocks without data over", async () => {
    expect(await read(": heartbeat\n\nretry: 2000\n\nid: 3\n\ndata: x\nfoo: bar\n\n")).toEqual([
      { id: "", event: "message", data: "x" },
    ]);
  });

  test("joins lines of data, and takes one space after the colon away, not two", async () => {
    expect(await read("data:a\ndata:  b\n\n")).toMatchObject([{ data: "a\n b" }]);
  });

  test("takes either kind of line end", async () => {
    expect(await read("id: 1\r\ndata: a\r\n\r\ndata: b\n\n")).toMatchObject([
      { id: "1", data: "a" },
      { data: "b" },
    ]);
  });

  test("does not give an event that was cut off", async () => {
    expect(await read("data: a\n\ndata: b\n")).toMatchObject([{ data: "a" }]);
  });

  test("gives the same however the bytes are cut into chunks", async () => {
    const text = 'id: 1\r\nevent: e\r\ndata: é漢🦆\r\n\r\n: x\n\nid: 2\ndata: {"a":1}\n\n';
    const whole = await read(text);
    const bytes = Buffer.from(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(await read(...parts)).toEqual(whole);
      }),
    );
  });
});
