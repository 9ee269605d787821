import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createMetrics, type Stoppable, SUBJECTS, startConsumer } from "@lapse/kit";
import {
  TableDroppedSchema,
  type TableDue,
  TableDueSchema,
  TableKeptSchema,
  TableState,
} from "@lapse/proto/events";
import { quiet } from "./database.ts";
import { type Publishers, tableInit } from "./publishers.ts";

/** What the catalog does with a due table: it drops it (null), keeps it for a reason, or says nothing. */
export type Verdict = null | string | "silent";

/** Plays the catalog's answers to due events. */
export interface CatalogDouble extends Stoppable {
  /** Every due event so far, in order. */
  readonly due: TableDue[];
}

export function playCatalog(
  publishers: Publishers,
  decide: (due: TableDue) => Verdict,
): CatalogDouble {
  const due: TableDue[] = [];
  const consumer = startConsumer({
    nats: publishers.nats,
    stream: "EXPIRY",
    durable: "test-catalog",
    filterSubjects: [SUBJECTS.expiry.tableDue],
    log: quiet,
    metrics: createMetrics("test"),
    async handle(deliveries) {
      for (const delivery of deliveries) {
        const event = delivery.decode(TableDueSchema);
        due.push(event);
        await answer(publishers, event, decide(event));
      }
    },
  });
  return { due, stop: () => consumer.stop() };
}

/** Says on the catalog's stream what became of a due table. */
export async function answer(
  publishers: Publishers,
  { tableId, environmentId, sweepId, changeVersion, tenant }: TableDue,
  verdict: Verdict,
): Promise<void> {
  if (verdict === "silent") return;
  const { dropped, kept } = SUBJECTS.catalog.table;
  if (verdict !== null) {
    await publishers.say("CATALOG", kept, TableKeptSchema, {
      tableId,
      tenant,
      sweepId,
      reason: verdict,
    });
    return;
  }
  await publishers.say("CATALOG", dropped, TableDroppedSchema, {
    table: tableInit({
      tableId,
      environmentId,
      tenant,
      state: TableState.DROPPED,
      changeVersion: changeVersion + 1n,
    }),
    reason: "retention",
    sweepId,
    droppedAt: timestampFromDate(new Date()),
  });
}
