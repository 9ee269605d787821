import type { Queryable } from "@lapse/kit";
import type { DecisionRecord, JsonObject, Outcome } from "../domain/decision.ts";

// Records are appended and read. There is no statement here that changes or deletes one, and the
// database refuses both.

/** A row of `decision_record`. */
export interface DecisionRow {
  tenant: string;
  seq: bigint;
  id: string;
  at: Date | number;
  type: string;
  service: string;
  actor: string;
  resource_kind: string;
  resource_id: string;
  resource_name: string;
  resource_environment: string;
  outcome: Outcome;
  reason: string;
  details: JsonObject;
  run_id: string;
  trace_id: string;
  source: string;
  source_sequence: bigint | null;
  recorded_at: Date | number;
  prev_hash: Uint8Array;
  hash: Uint8Array;
}

/** The columns of a {@link DecisionRow}, for a select list. */
export const DECISION_COLUMNS = `tenant, seq, id, at, type, service, actor,
  resource_kind, resource_id, resource_name, resource_environment,
  outcome, reason, details, run_id, trace_id, source, source_sequence, recorded_at, prev_hash, hash`;

/** Appends records in one statement. */
export async function insertDecisions(
  tx: Queryable,
  records: readonly DecisionRecord[],
): Promise<void> {
  const column = <T>(of: (record: DecisionRecord) => T): T[] => records.map(of);
  await tx.query(
    `insert into decision_record (${DECISION_COLUMNS})
     select * from unnest(
       $1::text[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::jsonb[],
       $15::text[], $16::text[], $17::text[], $18::bigint[], $19::timestamptz[], $20::bytea[], $21::bytea[]
     )`,
    [
      column((record) => record.tenant),
      column((record) => record.seq),
      column((record) => record.id),
      column((record) => record.at),
      column((record) => record.type),
      column((record) => record.service),
      column((record) => record.actor),
      column((record) => record.resource.kind),
      column((record) => record.resource.id),
      column((record) => record.resource.name),
      column((record) => record.resource.environment),
      column((record) => record.outcome),
      column((record) => record.reason),
      column((record) => JSON.stringify(record.details)),
      column((record) => record.runId),
      column((record) => record.traceId),
      column((record) => record.source),
      column((record) => record.sourceSequence),
      column((record) => record.recordedAt),
      column((record) => Buffer.from(record.prevHash)),
      column((record) => Buffer.from(record.hash)),
    ],
  );
}

/** Those of `ids` that are in the log. */
export async function findRecords(
  db: Queryable,
  ids: readonly string[],
): Promise<DecisionRecord[]> {
  const { rows } = await db.query<DecisionRow>(
    `select ${DECISION_COLUMNS} from decision_record where id = any($1::uuid[])`,
    [ids],
  );
  return rows.map(fromDecisionRow);
}

/** The next `limit` records of a chain after `afterSeq`, oldest first. */
export async function readChain(
  db: Queryable,
  tenant: string,
  afterSeq: bigint,
  limit: number,
): Promise<DecisionRecord[]> {
  const { rows } = await db.query<DecisionRow>(
    `select ${DECISION_COLUMNS} from decision_record
     where tenant = $1 and seq > $2 order by seq limit $3`,
    [tenant, afterSeq, limit],
  );
  return rows.map(fromDecisionRow);
}

/** The record that a row holds. A time that is none, such as `infinity`, becomes an invalid `Date`. */
export function fromDecisionRow(row: DecisionRow): DecisionRecord {
  return {
    id: row.id,
    at: date(row.at),
    type: row.type,
    service: row.service,
    tenant: row.tenant,
    actor: row.actor,
    resource: {
      kind: row.resource_kind,
      id: row.resource_id,
      name: row.resource_name,
      environment: row.resource_environment,
    },
    outcome: row.outcome,
    reason: row.reason,
    details: row.details,
    runId: row.run_id,
    traceId: row.trace_id,
    source: row.source,
    sourceSequence: row.source_sequence,
    seq: row.seq,
    recordedAt: date(row.recorded_at),
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}

/** The driver reads `infinity` as a number. Only somebody else can have put it there. */
function date(value: Date | number): Date {
  return typeof value === "number" ? new Date(Number.NaN) : value;
}
