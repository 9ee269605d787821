import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type CallContext, denied, unauthenticated, unavailable } from "@lapse/kit";
import { waitFor } from "@lapse/test-kit";
import { type Harness, listening, startHarness } from "./harness.ts";
import { aRecord } from "./messages.ts";

let harness: Harness;
let url: string;
/** What audit was asked for, and the end of each question. */
let watches: {
  readonly afterSeq: bigint | undefined;
  readonly type: string;
  readonly context: CallContext;
}[];
/** Records that audit gives, one by one. */
let records: AsyncGenerator<bigint>;

beforeEach(async () => {
  harness = await startHarness({ heartbeatMs: 40 });
  watches = [];
  harness.fakes.audit.listDecisions = () => ({ records: [aRecord(3n)] });
  harness.fakes.audit.watchDecisions = async function* ({ afterSeq, filter }, context) {
    watches.push({ afterSeq, type: filter?.type ?? "", context });
    for await (const seq of records) yield { record: aRecord(seq) };
    if (!context.signal.aborted) await once(context.signal, "abort");
  };
  records = seqs();
  url = `${await listening(harness)}/api/v1/audit/stream`;
});
afterEach(() => harness.stop());

async function* seqs(...values: bigint[]) {
  yield* values;
}

const open = (query = "", headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${url}${query}`, {
    headers: { authorization: "Bearer ana", ...headers },
    ...(signal && { signal }),
  });

/** Reads until the text holds what is wanted, or the stream ends. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw new Error("there is no body");
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text;
}

test("gives each decision as an event with its seq as id", async () => {
  records = seqs(4n, 5n);
  const response = await open();
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const text = await readUntil(response, "id: 5\nevent: decision");
  const [, block = ""] = /(id: 4\n[\s\S]*?)\n\n/.exec(text) ?? [];
  const [id, event, data = ""] = block.split("\n");
  expect([id, event]).toEqual(["id: 4", "event: decision"]);
  expect(JSON.parse(data.replace("data: ", ""))).toMatchObject({ seq: 4, type: "TABLE_DROPPED" });
  expect(watches[0]).toMatchObject({ afterSeq: undefined });
});

test("goes on after what was received, by header before query", async () => {
  await (await open("?after=7&type=TABLE_KEPT")).body?.cancel();
  await (await open("?after=7", { "last-event-id": "9" })).body?.cancel();
  await waitFor(() => watches.length === 2);
  expect(watches.map(({ afterSeq, type }) => [afterSeq, type])).toEqual([
    [7n, "TABLE_KEPT"],
    [9n, ""],
  ]);
});

test("shows signs of life while nothing is decided", async () => {
  const text = await readUntil(await open(), ": heartbeat");
  expect(text).toContain(": heartbeat\n\n");
});

test("ends the call to audit when the reader goes", async () => {
  const reader = new AbortController();
  const response = await open("", {}, reader.signal);
  await waitFor(() => watches.length === 1);
  expect(watches[0]?.context.signal.aborted).toBe(false);
  reader.abort();
  await response.text().catch(() => undefined);
  await waitFor(() => watches[0]?.context.signal.aborted);
});

test("ends when the gateway stops, which does not wait for it", async () => {
  const response = await open();
  await waitFor(() => watches.length === 1);
  const [, text] = await Promise.all([harness.api.close(), response.text()]);
  expect(text).toContain("retry:");
  await waitFor(() => watches[0]?.context.signal.aborted);
});

describe("a token that is withdrawn", () => {
  let other: Harness;
  let verdict: Error | undefined;
  let checks = 0;
  beforeEach(async () => {
    verdict = undefined;
    checks = 0;
    other = await startHarness({
      recheckMs: 20,
      authenticate: async () => {
        checks += 1;
        if (verdict) throw verdict;
        return { subject: "key:1", tenant: "local", roles: ["admin"], kind: "key" };
      },
    });
    other.fakes.audit = harness.fakes.audit;
    url = `${await listening(other)}/api/v1/audit/stream`;
  });
  afterEach(() => other.stop());

  test("ends the streams that it opened", async () => {
    const response = await open();
    await waitFor(() => watches.length === 1);
    verdict = unauthenticated("KEY_REVOKED", "it was revoked");
    expect(await response.text()).toContain("retry:");
    await waitFor(() => watches[0]?.context.signal.aborted);
    expect((await open()).status).toBe(401);
  });

  test("is told from one that cannot be checked at the moment: that ends nothing", async () => {
    const response = await open();
    await waitFor(() => watches.length === 1);
    verdict = unavailable("DATABASE_UNAVAILABLE", "away");
    const before = checks;
    await waitFor(() => checks > before + 3);
    expect(watches[0]?.context.signal.aborted).toBe(false);
    await response.body?.cancel();
    await waitFor(() => watches[0]?.context.signal.aborted);
  });
});

test("a refusal is told before any stream begins", async () => {
  harness.fakes.audit.listDecisions = () => {
    throw denied("RIGHT_MISSING", "rita lacks the right audit.read");
  };
  const response = await open();
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ code: "RIGHT_MISSING" });
  expect(watches).toHaveLength(0);
});

test("a stream that breaks off says why, and ends", async () => {
  harness.fakes.audit.watchDecisions = async function* () {
    yield { record: aRecord(4n) };
    throw unavailable("SHUTTING_DOWN", "the service is restarting; repeat the call");
  };
  const text = await (await open()).text();
  expect(text).toContain("id: 4\n");
  const [, data = ""] = /event: problem\ndata: (.*)\n\n$/.exec(text) ?? [];
  expect(JSON.parse(data)).toMatchObject({ status: 503, code: "SHUTTING_DOWN" });
});

test("a reader that is slow holds audit back instead of filling memory", async () => {
  let taken = 0n;
  records = (async function* () {
    for (let seq = 1n; seq <= 200_000n; seq++) {
      taken = seq;
      yield seq;
    }
  })();
  const response = await open();
  let before = -1n;
  // It has stopped once it takes no more from one look to the next.
  await waitFor(
    () => {
      const stopped = taken > 0n && taken === before;
      before = taken;
      return stopped;
    },
    { everyMs: 300, timeoutMs: 20_000 },
  );
  expect(taken).toBeLessThan(200_000n);
  await response.body?.cancel();
}, 30_000);

test.each([["?after=-1"], ["?after=x"], ["?limit=5"]])("refuses %s", async (query) => {
  const response = await open(query);
  expect(response.status).toBe(400);
  await response.body?.cancel();
});

test("refuses a Last-Event-ID that is no seq", async () => {
  const response = await open("", { "last-event-id": "abc" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errors: [{ pointer: "#/last-event-id" }] });
});
