import { notFound, type Principal } from "@lapse/kit";
import type { ApiKey } from "../domain/api-key.ts";
import { findKey, saveRevoked } from "../store/api-keys.ts";
import { AccessDenied } from "./access.ts";
import { type Call, change } from "./call.ts";
import { keyResource } from "./create-api-key.ts";
import { appendCatalogDecision } from "./decision.ts";
import type { CatalogDeps } from "./deps.ts";
import { tenantStanding } from "./effective-rights.ts";
import { isInTenant } from "./find-environment.ts";

/**
 * Ends a key: within seconds no service accepts it any longer. An admin may end any of the tenant, others those that
 * they made. One that is revoked already stays as it is.
 *
 * @throws not_found `KEY_NOT_FOUND` for who sees all keys; AccessDenied for others, whether there is one or not.
 */
export const revokeApiKey = <A>(
  deps: CatalogDeps,
  call: Call<ApiKey, A>,
  keyId: string,
): Promise<A> =>
  change(deps, call, async (tx, now) => {
    const { principal, traceparent } = call;
    const found = await findKey(tx, keyId, "update");
    const key = found && isInTenant(principal, found.tenant) ? found : undefined;
    if (!key || !isMaker(principal, key)) {
      const { rights } = await tenantStanding(tx, principal);
      if (!rights.includes("access.manage")) {
        const resource = keyResource(key ?? { keyId, name: keyId });
        throw new AccessDenied(principal, "access.manage", resource, { shown: keyId });
      }
    }
    if (!key) throw unknownKey(keyId);
    if (key.revokedAt) return key;
    const revoked = { ...key, revokedAt: now, revokedBy: principal.subject };
    await saveRevoked(tx, revoked);
    await appendCatalogDecision(tx, now, {
      type: "API_KEY_REVOKED",
      tenant: key.tenant,
      actor: principal.subject,
      resource: keyResource(key),
      outcome: "done",
      reason: "request",
      details: { created_by: key.createdBy },
      traceparent,
    });
    return revoked;
  });

const isMaker = ({ subject }: Principal, { createdBy }: ApiKey): boolean => subject === createdBy;

const unknownKey = (keyId: string) =>
  notFound("KEY_NOT_FOUND", `there is no API key ${keyId}; see the list of keys`);
