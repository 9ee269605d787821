import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@lapse/test-kit";
import { createAppendSignal } from "../src/app/append-signal.ts";
import { watchDecisions } from "../src/app/watch-decisions.ts";
import { aDecision } from "./lab/a-decision.ts";
import { behindTheBack } from "./lab/database.ts";
import { type AuditClient, type Lab, openLab } from "./lab/lab.ts";

let lab: Lab;
let admin: AuditClient;
let sequence = 0n;

beforeAll(async () => {
  lab = await openLab("audit-watch");
  admin = lab.person("local", "admin");
});
afterAll(() => lab.close());
beforeEach(() => behindTheBack(lab.pool, "truncate decision_record, chain_head"));

type Request = Parameters<AuditClient["watchDecisions"]>[0];

/** Appends `count` decisions of `type`. */
function append(count: number, type = "TABLE_DROPPED", tenant = "local") {
  const decisions = Array.from({ length: count }, () => {
    sequence += 1n;
    return aDecision({ type, tenant, sourceSequence: sequence });
  });
  return lab.append(...decisions);
}

/** Watches in the background; `seqs` fills as records come. */
function watch(request: Request, client = admin) {
  const seqs: bigint[] = [];
  const hangUp = new AbortController();
  const stream = client.watchDecisions(request, { signal: hangUp.signal });
  const ended = (async () => {
    for await (const { record } of stream) seqs.push(record?.seq ?? 0n);
  })();
  const failure = ended.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { seqs, failure, hangUp: () => hangUp.abort() };
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => BigInt(from + n));

describe("WatchDecisions", () => {
  test("gives what is appended from now on, as it is", async () => {
    await append(2);
    const { seqs, hangUp } = watch({});
    // The watch has begun once something appended after the call is seen.
    await waitFor(async () => {
      await append(1);
      return seqs.length > 0;
    });
    expect(seqs[0]).toBeGreaterThan(2n);
    hangUp();
  });

  test("from a given record on, gives what came after it and goes on without a hole or a repeat", async () => {
    await append(5);
    const { seqs, hangUp } = watch({ afterSeq: 2n });
    for (let n = 0; n < 10; n++) await append(3);
    await waitFor(() => seqs.length === 33);
    expect(seqs).toEqual(range(3, 35));
    hangUp();
  });

  test("gives a long past in order, more than it reads at once", async () => {
    await append(1_000);
    const { seqs, hangUp } = watch({ afterSeq: 0n });
    await waitFor(() => seqs.length === 1_000);
    expect(seqs).toEqual(range(1, 1_000));
    hangUp();
  });

  test("from a record that is still to come, waits for those after it", async () => {
    await append(1);
    const { seqs, hangUp } = watch({ afterSeq: 3n });
    await append(4);
    await waitFor(() => seqs.length === 2);
    expect(seqs).toEqual([4n, 5n]);
    hangUp();
  });

  test("gives only what the filter lets through, and only of the caller's tenant", async () => {
    const { seqs, hangUp } = watch({ afterSeq: 0n, filter: { type: "TABLE_KEPT" } });
    await append(300);
    await append(1, "TABLE_KEPT", "other");
    await append(1, "TABLE_KEPT");
    await append(300);
    await append(1, "TABLE_KEPT");
    await waitFor(() => seqs.length === 2);
    expect(seqs).toEqual([301n, 602n]);
    hangUp();
  });

  test("is heard by many at once", async () => {
    const watches = Array.from({ length: 10 }, () => watch({ afterSeq: 0n }));
    await append(3);
    await waitFor(() => watches.every(({ seqs }) => seqs.length === 3));
    for (const { hangUp } of watches) hangUp();
  });

  test("ends when its caller hangs up", async () => {
    const { failure, hangUp } = watch({ afterSeq: 0n });
    hangUp();
    expect(await failure).toMatchObject({ reason: "CANCELLED" });
  });

  test("ends at its deadline", async () => {
    const stream = admin.watchDecisions({}, { deadline: new Date(Date.now() + 200) });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      kind: "unavailable",
    });
  });

  test("refuses a place that no chain reaches", async () => {
    const { failure } = watch({ afterSeq: 2n ** 64n - 1n });
    expect(await failure).toMatchObject({ reason: "SEQ_INVALID" });
  });
});

describe("watching", () => {
  const everything = { tenant: "local", filter: {}, afterSeq: 0n };

  test("reads no further than its caller takes", async () => {
    await append(1_000);
    let statements = 0;
    const counting = new Proxy(lab.pool, {
      get(pool, name, receiver) {
        if (name === "query") statements += 1;
        const value: unknown = Reflect.get(pool, name, receiver);
        return typeof value === "function" ? value.bind(pool) : value;
      },
    });
    const deps = { pool: counting, appended: createAppendSignal() };
    const until = new AbortController();
    const records = watchDecisions(deps, everything, until.signal);
    await records.next();
    const afterFirst = statements;
    for (let n = 1; n < 200; n++) await records.next();
    expect(statements).toBe(afterFirst);
    await records.next();
    expect(statements).toBe(afterFirst + 1);
    until.abort();
    await records.return();
  });

  test("ends when it is told to, also while it waits", async () => {
    const until = new AbortController();
    const deps = { pool: lab.pool, appended: createAppendSignal() };
    const next = watchDecisions(deps, everything, until.signal).next();
    until.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

describe("a service that stops", () => {
  test("ends its watches at once, and says that it is a restart", async () => {
    const own = await openLab("audit-watch-stop");
    await own.append(aDecision());
    const { seqs, failure } = watch({ afterSeq: 0n }, own.person("local", "admin"));
    await waitFor(() => seqs.length === 1);
    const started = performance.now();
    await own.server.stop();
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(await failure).toMatchObject({ kind: "unavailable", reason: "SHUTTING_DOWN" });
    await own.close();
  });
});
