import { alreadyExists, exhausted, mayGive, newId, type Role } from "@lapse/kit";
import {
  type ApiKey,
  hashSecret,
  keyExpiry,
  keyToken,
  MAX_KEYS_PER_MAKER,
  newSecret,
} from "../domain/api-key.ts";
import { countUsableKeys, insertKey, lockMaker } from "../store/api-keys.ts";
import { AccessDenied, type DecidedResource } from "./access.ts";
import { type Call, change } from "./call.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { allRolesIn } from "./effective-rights.ts";
import { tenantOf } from "./find-environment.ts";

export interface NewApiKey {
  readonly name: string;
  /** None: the key may only what is granted to its subject. */
  readonly roles: readonly Role[];
  readonly days: number;
}

/**
 * Makes a key with no role above those that its maker has everywhere in the tenant. The token is in this answer and
 * nowhere else: a repeat with the same idempotency key cannot have it again.
 *
 * @throws already_exists `KEY_ALREADY_CREATED` at such a repeat, with the id of the key that was made; exhausted
 *   `TOO_MANY_KEYS`.
 */
export async function createApiKey<A extends { readonly keyId: string }>(
  deps: CatalogDeps,
  call: Call<ApiKey, A>,
  input: NewApiKey,
): Promise<{ readonly answer: A; readonly token: string }> {
  const { principal } = call;
  const tenant = tenantOf(principal);
  const [keyId, secret] = [newId(), newSecret()];
  const answer = await change(deps, call, async (tx, now) => {
    const resource: DecidedResource = { ...keyResource({ keyId: "", name: input.name }) };
    if (principal.kind === "key") {
      throw new AccessDenied(principal, "access.manage", resource, {
        advice: "a key makes no keys; ask a person",
      });
    }
    const own = await allRolesIn(tx, principal);
    const above = input.roles.find((role) => principal.kind !== "service" && !mayGive(own, role));
    if (above) {
      throw new AccessDenied(principal, "access.manage", resource, {
        advice: `the role ${above} is above your own; ask somebody who has it`,
      });
    }
    const createdBy = principal.subject;
    await lockMaker(tx, tenant, createdBy);
    if ((await countUsableKeys(tx, { tenant, createdBy, now })) >= MAX_KEYS_PER_MAKER) {
      throw tooMany(createdBy);
    }
    const key: ApiKey = {
      keyId,
      tenant,
      name: input.name,
      roles: input.roles,
      createdBy,
      createdAt: now,
      expiresAt: keyExpiry(now, input.days),
      revokedAt: null,
      revokedBy: null,
      lastUsedAt: null,
    };
    await insertKey(tx, key, hashSecret(secret));
    await appendCatalogDecision(tx, now, {
      type: "API_KEY_CREATED",
      tenant,
      actor: createdBy,
      resource: keyResource(key),
      outcome: "done",
      reason: "request",
      details: { roles: [...key.roles], expires_at: key.expiresAt.toISOString() },
      traceparent: call.traceparent,
    });
    return key;
  });
  // The answer to another call with the same idempotency key: the secret made here was stored nowhere.
  if (answer.keyId !== keyId) throw alreadyCreated(answer.keyId);
  return { answer, token: keyToken(keyId, secret) };
}

/** How the audit log names a key. */
export const keyResource = ({ keyId, name }: Pick<ApiKey, "keyId" | "name">): DecidedResource => ({
  kind: "api_key",
  id: keyId,
  name,
  environment: "",
});

const alreadyCreated = (keyId: string) =>
  alreadyExists(
    "KEY_ALREADY_CREATED",
    `this call made key ${keyId} before, and its token was shown then; if it is lost, revoke that key and make another with a new idempotency key`,
    { details: { key_id: keyId } },
  );

const tooMany = (subject: string) =>
  exhausted(
    "TOO_MANY_KEYS",
    `${subject} has ${MAX_KEYS_PER_MAKER} API keys already; revoke those that are not needed`,
  );
