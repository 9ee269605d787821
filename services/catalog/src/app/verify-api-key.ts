import {
  appendDecision,
  type Pool,
  type Principal,
  unauthenticated,
  type VerifyApiKey,
  withTransaction,
} from "@lapse/kit";
import { type ApiKey, isSecret, keyState, keySubject, parseKeyToken } from "../domain/api-key.ts";
import { SERVICE } from "../service-name.ts";
import { findKeyWithHash, noteKey } from "../store/api-keys.ts";
import { transactionTime } from "../store/now.ts";
import { keyResource } from "./create-api-key.ts";

const MINUTE_MS = 60_000;
/** Compared with where there is no such key, so that this takes as long. */
const NO_HASH = Buffer.alloc(32);

/**
 * What an API key stands for. Its use is noted to the minute; that an ended one was shown is recorded once a minute.
 *
 * The result throws unauthenticated `KEY_EXPIRED`, `KEY_REVOKED`, or `TOKEN_INVALID` where there is no such key.
 */
export const verifyApiKey =
  (pool: Pool): VerifyApiKey =>
  async (token) => {
    const parts = parseKeyToken(token);
    if (!parts) throw unknownKey();
    const found = await findKeyWithHash(pool, parts.keyId);
    const isRight = isSecret(parts.secret, found?.secretHash ?? NO_HASH);
    if (!found || !isRight) throw unknownKey();
    const { key, now } = found;
    const state = keyState(key, now);
    if (state !== "valid") {
      await recordEnded(pool, key, state);
      throw ended(key, state);
    }
    if (!key.lastUsedAt || now.getTime() - key.lastUsedAt.getTime() >= MINUTE_MS) {
      await noteKey(pool, key.keyId, "last_used_at");
    }
    return { principal: keyPrincipal(key), expiresAt: key.expiresAt.getTime() };
  };

const keyPrincipal = ({ keyId, tenant, roles }: ApiKey): Principal => ({
  subject: keySubject(keyId),
  tenant,
  roles,
  kind: "key",
});

const recordEnded = (pool: Pool, key: ApiKey, state: "expired" | "revoked"): Promise<void> =>
  withTransaction(pool, async (tx) => {
    if (!(await noteKey(tx, key.keyId, "refused_at"))) return;
    await appendDecision(
      tx,
      {
        service: SERVICE,
        type: "AUTHORIZATION_DENIED",
        tenant: key.tenant,
        actor: keySubject(key.keyId),
        resource: keyResource(key),
        outcome: "refused",
        reason: `key_${state}`,
        details: { created_by: key.createdBy },
      },
      await transactionTime(tx),
    );
  });

const unknownKey = () =>
  unauthenticated("TOKEN_INVALID", "the API key is not accepted; ask for another");

const ended = ({ keyId }: ApiKey, state: "expired" | "revoked") =>
  state === "expired"
    ? unauthenticated("KEY_EXPIRED", `API key ${keyId} has expired; make another`)
    : unauthenticated("KEY_REVOKED", `API key ${keyId} was revoked; ask for another`);
