const PROTOBUF = "application/protobuf";
/** What goes into a header value as it is; the rest is percent-encoded, as the CloudEvents NATS binding says. */
const AS_IS = /^[\x21\x23\x24\x26-\x7e]*$/;

/** The headers of an `ActivityBatch`: a CloudEvent in binary mode, for readers that know it and for those that do not. */
export function eventHeaders(event: {
  readonly id: string;
  readonly source: string;
  readonly time: Date;
}): Readonly<Record<string, string>> {
  return {
    "content-type": PROTOBUF,
    "ce-specversion": "1.0",
    "ce-id": event.id,
    "ce-type": "lapse.events.v1.ActivityBatch",
    "ce-source": headerValue(event.source),
    "ce-time": event.time.toISOString(),
    "ce-datacontenttype": PROTOBUF,
  };
}

function headerValue(text: string): string {
  if (AS_IS.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => {
    const char = String.fromCharCode(byte);
    return AS_IS.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}
