import { fromBinary } from "@bufbuild/protobuf";
import type { Pool } from "@lapse/kit";
import { type Decision, DecisionSchema } from "@lapse/proto/events";

/** The decisions in the service's outbox, in order; of one type, if given. */
export async function decisionsOf(pool: Pool, type?: string): Promise<readonly Decision[]> {
  const { rows } = await pool.query<{ body: Buffer }>(
    `select body from lapse_kit.outbox where stream = 'DECISION' order by position`,
  );
  const all = rows.map(({ body }) => fromBinary(DecisionSchema, body));
  return type === undefined ? all : all.filter((decision) => decision.type === type);
}
