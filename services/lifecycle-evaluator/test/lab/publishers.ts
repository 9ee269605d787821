import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  connectNats,
  createMetrics,
  encodeHeaders,
  ensureStreams,
  type Nats,
  newId,
  PROTOBUF,
  SUBJECTS,
} from "@lapse/kit";
import {
  EnvironmentCreatedSchema,
  EnvironmentRetentionClearedSchema,
  EnvironmentRetentionSetSchema,
  type EnvironmentSnapshotSchema,
  TableChange,
  TableChangedSchema,
  TableCreatedSchema,
  TableKind,
  TableRetentionSetSchema,
  type TableRuleSchema,
  type TableSnapshotSchema,
  TableState,
} from "@lapse/proto/events";
import { quiet } from "./database.ts";

export type TableInit = MessageInitShape<typeof TableSnapshotSchema>;
export type EnvironmentInit = MessageInitShape<typeof EnvironmentSnapshotSchema>;

const DAY_MS = 86_400_000;

/** So many days before now. */
export const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

/** An event with its place in its publisher's numbering, as an outbox holds it. */
export interface Numbered {
  readonly stream: "CATALOG" | "POLICY";
  readonly subject: string;
  readonly sequence: bigint;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** Plays the catalog and retention-policy: numbers events as their outboxes do, and publishes them. */
export class Publishers {
  readonly nats: Nats;
  /** What the outboxes hold, published or not. */
  readonly outbox: Numbered[] = [];

  private constructor(nats: Nats) {
    this.nats = nats;
  }

  static async connect(url: string): Promise<Publishers> {
    const nats = await connectNats({
      url,
      name: "test-publishers",
      log: quiet,
      metrics: createMetrics("test"),
    });
    await ensureStreams(nats);
    return new Publishers(nats);
  }

  close(): Promise<void> {
    return this.nats.close();
  }

  /** Commits an event to the outbox and publishes it, unless it is to be lost on its way. */
  async say<Desc extends DescMessage>(
    stream: Numbered["stream"],
    subject: string,
    schema: Desc,
    message: MessageInitShape<Desc>,
    { lost = false }: { readonly lost?: boolean } = {},
  ): Promise<Numbered> {
    const sequence = BigInt(this.outbox.filter((each) => each.stream === stream).length + 1);
    const headers = encodeHeaders({
      id: newId(),
      type: schema.typeName,
      source: stream === "CATALOG" ? "lapse.catalog" : "lapse.retention-policy",
      time: new Date(),
      sequence,
      contentType: PROTOBUF,
    });
    const numbered = {
      stream,
      subject,
      sequence,
      headers,
      body: toBinary(schema, create(schema, message)),
    };
    this.outbox.push(numbered);
    if (!lost) await this.publish(numbered);
    return numbered;
  }

  async publish({ subject, body, headers }: Numbered): Promise<void> {
    await this.nats.publish(subject, body, headers, { msgId: newId() });
  }

  /** An environment of `local`, not protected; gives what was said. */
  async environment(
    init: EnvironmentInit = {},
  ): Promise<EnvironmentInit & { environmentId: string }> {
    const environment = {
      environmentId: newId(),
      tenant: "local",
      name: "dev",
      changeVersion: 1n,
      createdAt: timestampFromDate(daysAgo(500)),
      ...init,
    };
    await this.say("CATALOG", SUBJECTS.catalog.environment.created, EnvironmentCreatedSchema, {
      environment,
    });
    return environment;
  }

  /** A live managed table of `local`, created and last changed 400 days ago unless said. */
  async table(init: TableInit = {}): Promise<TableInit & { tableId: string }> {
    const table = tableInit(init);
    await this.say("CATALOG", SUBJECTS.catalog.table.created, TableCreatedSchema, { table });
    return table;
  }

  /** A change of a table; its version is up to the caller. */
  async changed(table: TableInit, change: TableChange = TableChange.WRITTEN): Promise<void> {
    await this.say("CATALOG", SUBJECTS.catalog.table.changed, TableChangedSchema, {
      table,
      change,
    });
  }

  async tableRule(
    tableId: string,
    rule: MessageInitShape<typeof TableRuleSchema>["rule"],
    {
      retentionVersion = 1n,
      setAt = daysAgo(400),
    }: { retentionVersion?: bigint; setAt?: Date } = {},
  ): Promise<void> {
    await this.say("POLICY", SUBJECTS.policy.table.set, TableRetentionSetSchema, {
      tableId,
      tenant: "local",
      rule: { ...(rule && { rule }) },
      setBy: "ana",
      setAt: timestampFromDate(setAt),
      retentionVersion,
    });
  }

  /** Null turns it off. */
  async environmentRule(
    environmentId: string,
    days: number | null,
    { policyVersion = 1n, setAt = daysAgo(400) }: { policyVersion?: bigint; setAt?: Date } = {},
  ): Promise<void> {
    const about = {
      environmentId,
      tenant: "local",
      policyVersion,
      setBy: "ana",
      setAt: timestampFromDate(setAt),
    };
    const { set, cleared } = SUBJECTS.policy.environment;
    if (days === null) await this.say("POLICY", cleared, EnvironmentRetentionClearedSchema, about);
    else await this.say("POLICY", set, EnvironmentRetentionSetSchema, { ...about, days });
  }
}

export function tableInit(init: TableInit): TableInit & { tableId: string } {
  return {
    tableId: newId(),
    tenant: "local",
    environmentId: newId(),
    environment: "dev",
    namespace: "bronze",
    name: "trial",
    kind: TableKind.MANAGED,
    owner: "ana@example.org",
    state: TableState.LIVE,
    changeVersion: 1n,
    createdAt: timestampFromDate(daysAgo(400)),
    lastChangedAt: timestampFromDate(daysAgo(400)),
    ...init,
  };
}
