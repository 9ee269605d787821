import type { Handlers } from "@lapse/kit";
import { type AccessService, ApiKeySchema, RevokeApiKeyResponseSchema } from "@lapse/proto/catalog";
import { createApiKey } from "../app/create-api-key.ts";
import type { CatalogDeps } from "../app/deps.ts";
import { pageOfApiKeys } from "../app/list-api-keys.ts";
import { revokeApiKey } from "../app/revoke-api-key.ts";
import type { ApiKey } from "../domain/api-key.ts";
import { idempotentCall } from "./idempotent-call.ts";
import { keyCursor, pageOf, parseLimit } from "./page.ts";
import { parsed, parseId } from "./parse.ts";
import { parseNewKey } from "./parse-access.ts";
import { renderApiKey } from "./render-access.ts";

type ApiKeyHandlers = Pick<
  Handlers<typeof AccessService>,
  "createApiKey" | "listApiKeys" | "revokeApiKey"
>;

/** API keys of the caller's tenant. */
export const apiKeyHandlers = (deps: CatalogDeps): ApiKeyHandlers => ({
  async createApiKey(request, context) {
    const input = parsed((faults) => parseNewKey(faults, request));
    // What is kept for a repeat of the call is the key without its token.
    const call = idempotentCall(context, ApiKeySchema, renderApiKey);
    const { answer, token } = await createApiKey(deps, call, input);
    return { key: answer, token };
  },

  async listApiKeys(request, context) {
    const page = parsed((faults) => ({
      limit: parseLimit(faults, request.limit),
      after: keyCursor.read(faults, request.cursor),
    }));
    const rows = await pageOfApiKeys(deps, context, { ...page, limit: page.limit + 1 });
    const { items, nextCursor } = pageOf(rows, page.limit, ({ keyId }) => keyCursor.write(keyId));
    return { keys: items.map(renderApiKey), nextCursor };
  },

  async revokeApiKey(request, context) {
    const keyId = parsed((faults) => parseId(faults, "/key_id", request.keyId));
    const call = idempotentCall(context, RevokeApiKeyResponseSchema, (key: ApiKey) => ({
      key: renderApiKey(key),
    }));
    return revokeApiKey(deps, call, keyId);
  },
});
