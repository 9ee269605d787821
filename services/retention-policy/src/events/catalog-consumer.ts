import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type Delivery,
  invalid,
  type Logger,
  type Metrics,
  type Nats,
  type Pool,
  type Stoppable,
  SUBJECTS,
  startConsumer,
} from "@lapse/kit";
import {
  EnvironmentDeletedSchema,
  TablePurgedSchema,
  TableRestoredSchema,
} from "@lapse/proto/events";
import { followRestore } from "../app/follow-restore.ts";
import { forgetEnvironment, forgetTable } from "../app/forget.ts";

export interface CatalogConsumerDeps {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const { restored, purged } = SUBJECTS.catalog.table;
const { deleted } = SUBJECTS.catalog.environment;

/** Hears what the catalog restores, purges and deletes. Each is in the order of its version, so a repeat changes nothing. */
export function startCatalogConsumer({ pool, ...deps }: CatalogConsumerDeps): Stoppable {
  return startConsumer({
    ...deps,
    stream: "CATALOG",
    durable: "retention-policy-catalog",
    filterSubjects: [restored, purged, deleted],
    batch: 50,
    async handle(deliveries) {
      for (const delivery of deliveries) {
        await hear(pool, delivery);
      }
    },
  });
}

async function hear(pool: Pool, delivery: Delivery): Promise<void> {
  switch (delivery.subject) {
    case restored:
      return hearRestored(pool, delivery);
    case purged: {
      const { table } = delivery.decode(TablePurgedSchema);
      return forgetTable(
        pool,
        present(table, "table").tableId,
        present(table, "table").changeVersion,
      );
    }
    case deleted: {
      const { environment } = delivery.decode(EnvironmentDeletedSchema);
      const { environmentId, changeVersion } = present(environment, "environment");
      return forgetEnvironment(pool, environmentId, changeVersion);
    }
  }
}

async function hearRestored(pool: Pool, delivery: Delivery): Promise<void> {
  const { table: snapshot, actor } = delivery.decode(TableRestoredSchema);
  const table = present(snapshot, "table");
  await followRestore(pool, {
    tableId: table.tableId,
    tenant: table.tenant,
    environmentId: table.environmentId,
    environment: table.environment,
    name: `${table.namespace}.${table.name}`,
    restoredAt: timestampDate(present(table.restoredAt, "restored_at")),
    version: table.retentionVersion,
    actor,
    traceparent: delivery.headers.traceparent,
  });
}

function present<Value>(value: Value | undefined, field: string): Value {
  if (value === undefined) {
    throw invalid("EVENT_INCOMPLETE", `the event says nothing of its ${field}`);
  }
  return value;
}
