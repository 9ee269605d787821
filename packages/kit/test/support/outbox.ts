import { EnvironmentCreatedSchema } from "@lapse/proto/events";
import { lowerCaseNames } from "../../src/delivery-headers.ts";
import {
  appendEvents,
  type Headers,
  type Nats,
  type OutboxEvent,
  type Pool,
  type Queryable,
  type StreamName,
} from "../../src/index.ts";

/** An event that carries `name`. */
export const event = (name: string, padding = 0): OutboxEvent<typeof EnvironmentCreatedSchema> => ({
  stream: "CATALOG",
  subject: "catalog.environment.created",
  schema: EnvironmentCreatedSchema,
  message: { environment: { name }, actor: "x".repeat(padding) },
  subjectKey: name,
});

/** Appends one event per name, in one transaction of its own. */
export async function append(pool: Pool, names: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await appendEvents(
      client,
      names.map((name) => event(name)),
    );
    await client.query("commit");
  } finally {
    client.release();
  }
}

/** What is in a stream, in order. */
export async function streamMessages(
  nats: Nats,
  stream: StreamName,
): Promise<{ readonly headers: Headers; readonly body: Uint8Array }[]> {
  const found: { headers: Headers; body: Uint8Array }[] = [];
  const { state } = await nats.manager.streams.info(stream);
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const stored = await nats.manager.streams.getMessage(stream, { seq }).catch(() => undefined);
    if (stored) found.push({ headers: lowerCaseNames(stored.header), body: stored.data });
  }
  return found;
}

/** The numbers of the outbox events in a stream, in order of arrival. */
export const sequencesIn = async (nats: Nats, stream: StreamName): Promise<number[]> =>
  (await streamMessages(nats, stream)).map(({ headers }) => Number(headers["ce-sequence"]));

export const unsent = async (db: Queryable): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from lapse_kit.outbox where published_at is null",
  );
  return rows[0]?.count ?? 0;
};

/** 1 to `count`. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
