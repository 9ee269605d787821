import type { Queryable, Role } from "@lapse/kit";
import type { ApiKey } from "../domain/api-key.ts";

interface KeyRow {
  readonly key_id: string;
  readonly tenant: string;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly revoked_by: string | null;
  readonly last_used_at: Date | null;
}

const COLUMNS =
  "key_id, tenant, name, roles, created_by, created_at, expires_at, revoked_at, revoked_by, last_used_at";

const toKey = (row: KeyRow): ApiKey => ({
  keyId: row.key_id,
  tenant: row.tenant,
  name: row.name,
  roles: row.roles,
  createdBy: row.created_by,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  revokedBy: row.revoked_by,
  lastUsedAt: row.last_used_at,
});

export async function insertKey(tx: Queryable, key: ApiKey, secretHash: Buffer): Promise<void> {
  await tx.query(
    `insert into api_key (key_id, tenant, name, roles, secret_hash, created_by, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      key.keyId,
      key.tenant,
      key.name,
      key.roles,
      secretHash,
      key.createdBy,
      key.createdAt,
      key.expiresAt,
    ],
  );
}

/** The key of this id; with `update`, kept from changing for the rest of the transaction. */
export async function findKey(
  db: Queryable,
  keyId: string,
  lock: "none" | "update" = "none",
): Promise<ApiKey | undefined> {
  const { rows } = await db.query<KeyRow>(
    `select ${COLUMNS} from api_key where key_id = $1 ${lock === "update" ? "for update" : ""}`,
    [keyId],
  );
  return rows[0] && toKey(rows[0]);
}

/** The key of this id with the hash of its secret, and the time by the database's clock. */
export async function findKeyWithHash(
  db: Queryable,
  keyId: string,
): Promise<{ key: ApiKey; secretHash: Buffer; now: Date } | undefined> {
  const { rows } = await db.query<KeyRow & { secret_hash: Buffer; now: Date }>(
    `select ${COLUMNS}, secret_hash, now()::timestamptz(3) as now from api_key where key_id = $1`,
    [keyId],
  );
  const [row] = rows;
  return row && { key: toKey(row), secretHash: row.secret_hash, now: row.now };
}

/** How many keys of a maker can be used at `now`. */
export async function countUsableKeys(
  tx: Queryable,
  { tenant, createdBy, now }: { tenant: string; createdBy: string; now: Date },
): Promise<number> {
  const { rows } = await tx.query<{ count: bigint }>(
    `select count(*) as count from api_key
     where tenant = $1 and created_by = $2 and revoked_at is null and expires_at > $3`,
    [tenant, createdBy, now],
  );
  return Number(rows[0]?.count ?? 0n);
}

/** One maker's keys are counted and made by one transaction at a time. */
export async function lockMaker(tx: Queryable, tenant: string, createdBy: string): Promise<void> {
  await tx.query(
    "select pg_advisory_xact_lock(hashtextextended('lapse.catalog.keys/' || $1 || '/' || $2, 0))",
    [tenant, createdBy],
  );
}

/** Revokes a key for good. */
export async function saveRevoked(
  tx: Queryable,
  { keyId, revokedAt, revokedBy }: Pick<ApiKey, "keyId" | "revokedAt" | "revokedBy">,
): Promise<void> {
  await tx.query(
    "update api_key set revoked_at = $2, revoked_by = $3 where key_id = $1 and revoked_at is null",
    [keyId, revokedAt, revokedBy],
  );
}

/** Keys of a tenant in the order they were made, after one of them; of one maker where it is given. */
export async function listKeys(
  db: Queryable,
  page: {
    tenant: string;
    createdBy: string | undefined;
    after: string | undefined;
    limit: number;
  },
): Promise<ApiKey[]> {
  const { rows } = await db.query<KeyRow>(
    `select ${COLUMNS} from api_key
     where tenant = $1 and ${page.createdBy === undefined ? "$2::text is null" : "created_by = $2"}
       and ($3::uuid is null or key_id > $3)
     order by key_id limit $4`,
    [page.tenant, page.createdBy ?? null, page.after ?? null, page.limit],
  );
  return rows.map(toKey);
}

/** Which of the two times is noted, at most once a minute. */
type NotedTime = "last_used_at" | "refused_at";

/** Notes that the key was used, or refused, now; false when that was noted within the last minute. */
export async function noteKey(db: Queryable, keyId: string, time: NotedTime): Promise<boolean> {
  const { rowCount } = await db.query(
    `update api_key set ${time} = now()
     where key_id = $1 and (${time} is null or ${time} <= now() - interval '1 minute')`,
    [keyId],
  );
  return rowCount === 1;
}
