import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type Consumer,
  type Delivery,
  isId,
  type Metrics,
  type Nats,
  SUBJECTS,
  startConsumer,
} from "@lapse/kit";
import { type TableDue, TableDueSchema } from "@lapse/proto/events";
import { answerDue } from "../app/answer-due.ts";
import type { CatalogDeps } from "../app/deps.ts";
import type { DueEvent } from "../app/due-event.ts";
import type { DueTable } from "../domain/due.ts";

const DURABLE = "catalog-table-due";
const BATCH = 250;
const CONCURRENT_BATCHES = 2;

/** Answers `expiry.table.due`; an event that cannot be read as one is parked and harms no other. */
export const consumeTableDue = (
  deps: CatalogDeps,
  { nats, metrics }: { nats: Nats; metrics: Metrics },
): Consumer =>
  startConsumer({
    nats,
    metrics,
    log: deps.log,
    stream: "EXPIRY",
    durable: DURABLE,
    filterSubjects: [SUBJECTS.expiry.tableDue],
    batch: BATCH,
    concurrency: CONCURRENT_BATCHES,
    handle: (deliveries) => handleTableDue(deps, deliveries),
  });

async function handleTableDue(deps: CatalogDeps, deliveries: readonly Delivery[]) {
  const events: DueEvent[] = [];
  const parked: { delivery: Delivery; reason: string }[] = [];
  for (const delivery of deliveries) {
    const due = readDue(delivery);
    if (typeof due === "string") parked.push({ delivery, reason: `EVENT_INVALID: ${due}` });
    else events.push({ due, traceparent: delivery.headers.traceparent });
  }
  await answerDue(deps, events);
  return { parked };
}

/** The event, or what is wrong with it. */
function readDue(delivery: Delivery): DueTable | string {
  let message: TableDue;
  try {
    message = delivery.decode(TableDueSchema);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { tenant, environmentId, issuedAt } = message;
  // As PostgreSQL writes them, since they are compared with what it gives.
  const tableId = message.tableId.toLowerCase();
  const sweepId = message.sweepId.toLowerCase();
  if (!isId(tableId)) return "table_id is not a UUID";
  if (!isId(sweepId)) return "sweep_id is not a UUID";
  if (!tenant) return "tenant is missing";
  if (!issuedAt) return "issued_at is missing";
  return {
    tableId,
    tenant,
    environmentId,
    sweepId,
    changeVersion: message.changeVersion,
    retentionVersion: message.retentionVersion,
    policyVersion: message.policyVersion,
    issuedAt: timestampDate(issuedAt),
  };
}
