// How fast activity on 100,000 tables is folded, from the stream into the database, against the same client merely
// consuming and acknowledging the same stream in the same run (T34).
//
//   node --conditions=source --import ./scripts/typescript.mjs services/lifecycle-evaluator/bench/fold.bench.ts
//
// Database and broker are the tests' own unless TEST_POSTGRES_URL and TEST_NATS_URL name others.

import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  connectNats,
  createLogger,
  createMetrics,
  createPool,
  ensureStreams,
  type Nats,
  type OrderedFoldOptions,
  type Pool,
  startOrderedFold,
} from "@lapse/kit";
import { ActivityBatchSchema } from "@lapse/proto/events";
import { testDatabase, testNats } from "@lapse/test-kit";
import { endRun, startRun } from "@lapse/test-kit/run";
import { createFence } from "../src/app/fence.ts";
import { activityFold } from "../src/events/activity-fold.ts";
import { applyBatch } from "../src/events/apply-batch.ts";
import { evaluatorMetrics } from "../src/metrics.ts";
import { loadPosition } from "../src/store/fold-positions.ts";

const TABLES = 100_000;
const RUNS = 5;
/** Events per message, and messages per run. */
const SHAPES = [
  { packed: 1, messages: 40_000 },
  { packed: 100, messages: 5_000 },
];
const IN_FLIGHT = 64;

const log = createLogger({ service: "bench", level: "warn" });
const consumed: { sequence: bigint; streamCreatedAt: Date | null } = {
  sequence: 0n,
  streamCreatedAt: null,
};
const tableIds = Array.from({ length: TABLES }, () => randomUUID());

await startRun();
const database = await testDatabase({
  migrations: join(import.meta.dirname, "..", "migrations"),
  name: "fold-bench",
});
const broker = await testNats();
const pool = createPool({ url: database.url, applicationName: "fold-bench", log });
const nats = await connectNats({
  url: broker.url,
  name: "fold-bench",
  log,
  metrics: createMetrics("bench"),
});
try {
  await ensureStreams(nats);
  await prepare(pool);
  const [cpu] = cpus();
  console.log(`${cpus().length} × ${cpu?.model}; Node ${process.version}`);
  console.log(`${TABLES.toLocaleString("en")} tables, reads at random; median of ${RUNS} runs\n`);
  console.log("events per message    folded/s   consumed/s   ratio");
  for (const { packed, messages } of SHAPES) {
    const rates = { folded: [] as number[], consumed: [] as number[] };
    for (let run = 0; run < RUNS; run++) {
      const last = await publish(nats, packed, messages);
      rates.consumed.push(await rate(packed * messages, () => consume(nats, last)));
      rates.folded.push(await rate(packed * messages, () => fold(pool, nats, last)));
    }
    const folded = median(rates.folded);
    const merely = median(rates.consumed);
    const cells = [packed, folded, merely].map((n) => Math.round(n).toLocaleString("en"));
    console.log(
      `${cells[0]?.padStart(18)}${cells[1]?.padStart(12)}${cells[2]?.padStart(13)}${(folded / merely).toFixed(2).padStart(8)}`,
    );
  }
} finally {
  await pool.end();
  await nats.close();
  await broker.close();
  await database.drop();
  await endRun();
}

/** Live tables with a rule of their environment, and the fold's lease. */
async function prepare(db: Pool): Promise<void> {
  await db.query(
    `insert into environment_state (environment_id, tenant, name, protected, change_version)
     values (md5('e')::uuid, 'local', 'dev', false, 1)`,
  );
  await db.query(
    `insert into table_state (
       table_id, tenant, environment_id, namespace, name, kind, state, owner, change_version, created_at,
       last_changed_at, last_activity_at, last_activity_kind, expires_by, folded_at)
     select id, 'local', md5('e')::uuid, 'bronze', 'table_' || nth, 'managed', 'live', 'bench', 1,
       at, at, at, 'created', 'environment', now()
     from unnest($1::uuid[]) with ordinality as t (id, nth), (select now() - interval '9 days' as at) x`,
    [tableIds],
  );
  await db.query(`vacuum analyze table_state`);
  await db.query(
    `insert into lapse_kit.lease (name, holder, token, expires_at)
     values ('fold', 'bench', 1, now() + interval '1 day')`,
  );
}

/** Publishes reads of tables at random; the sequence of the last message. */
async function publish(to: Nats, packed: number, messages: number): Promise<bigint> {
  let last = 0;
  for (let sent = 0; sent < messages; sent += IN_FLIGHT) {
    const some = Array.from({ length: Math.min(IN_FLIGHT, messages - sent) }, async () => {
      const events = Array.from({ length: packed }, () => ({
        tableId: tableIds[Math.floor(Math.random() * TABLES)] ?? "",
        occurredAt: timestampFromMs(Date.now()),
        source: "trino",
      }));
      const body = toBinary(ActivityBatchSchema, create(ActivityBatchSchema, { events }));
      const { seq } = await to.publish("activity.table.read", body, {}, { msgId: randomUUID() });
      last = Math.max(last, seq);
    });
    await Promise.all(some);
  }
  return BigInt(last);
}

/** Receives and acknowledges what is new, and does nothing with it. */
async function consume(from: Nats, last: bigint): Promise<void> {
  const position = consumed;
  await until(last, {
    consumerName: "bench-consume",
    position: async () => position,
    async handle(_deliveries, { lastSequence, streamCreatedAt }) {
      position.sequence = lastSequence;
      position.streamCreatedAt = streamCreatedAt;
    },
    nats: from,
  });
}

async function fold(db: Pool, from: Nats, last: bigint): Promise<void> {
  const counters = evaluatorMetrics(createMetrics("bench"));
  const folding = activityFold({
    fence: createFence({ pool: db, nats: from, metrics: counters }),
    metrics: counters,
    signal: new AbortController().signal,
  });
  await until(last, {
    consumerName: "bench-fold",
    position: () => loadPosition(db, "ACTIVITY"),
    handle: (deliveries, batch) => applyBatch({ pool: db, token: 1n }, folding, deliveries, batch),
    nats: from,
  });
}

type Part = Pick<OrderedFoldOptions, "nats" | "consumerName" | "position" | "handle">;

/** Runs a fold until it has handled the message with that sequence. */
async function until(last: bigint, part: Part): Promise<void> {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const running = startOrderedFold({
    ...part,
    stream: "ACTIVITY",
    batch: 2_000,
    async handle(deliveries, batch) {
      await part.handle(deliveries, batch);
      if (batch.lastSequence >= last) finish();
    },
    async onLoss(loss) {
      throw new Error(`messages are lost: ${loss.kind}`);
    },
    log,
    metrics: createMetrics("bench"),
  });
  await finished;
  await running.stop();
}

/** Events per second. */
async function rate(events: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (events / (performance.now() - started)) * 1_000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
