export type ServerSentEvent = {
  readonly event: string;
  readonly data: string;
  readonly id: string;
};

/** Reads the bytes of a `text/event-stream` event by event; comments (heartbeats) are passed over. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event) yield event;
    }
  }
}

function parseBlock(block: string): ServerSentEvent | null {
  const fields = { event: "message", data: [] as string[], id: "" };
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const name = line.slice(0, colon);
    if (name === "data") fields.data.push(value);
    else if (name === "event") fields.event = value;
    else if (name === "id") fields.id = value;
  }
  return fields.data.length > 0 ? { ...fields, data: fields.data.join("\n") } : null;
}
