import * as z from "zod";
import { reading, writing } from "../../app/call.ts";
import { required } from "../../app/required.ts";
import type { Api, ApiDeps } from "../http/api.ts";
import { NoBody, operation } from "../http/operation.ts";
import { callOf } from "../http/request-call.ts";
import { renderApiKey } from "../render/access.ts";
import { pageOf } from "../render/values.ts";
import { ApiKey, ApiKeyPage, CreatedApiKey, NewApiKey } from "../schemas/api-key.ts";
import { PageQuery } from "../schemas/pages.ts";
import { Id } from "../schemas/values.ts";

/** `/api-keys`: bearer tokens for programs, which expire and can be revoked. */
export function apiKeyRoutes(api: Api, { peers: { access } }: ApiDeps): void {
  api.get(
    "/api-keys",
    {
      schema: operation({
        id: "listApiKeys",
        tag: "Access",
        summary: "List API keys",
        description: "An admin sees all of the tenant, others their own. Secrets are never shown.",
        query: PageQuery,
        answer: ApiKeyPage,
      }),
    },
    async (request, reply) => {
      const { limit, cursor = "" } = request.query;
      const answer = await access.listApiKeys({ limit, cursor }, reading(callOf(request, reply)));
      return pageOf(answer.keys.map(renderApiKey), answer.nextCursor);
    },
  );

  api.post(
    "/api-keys",
    {
      schema: operation({
        id: "createApiKey",
        tag: "Access",
        summary: "Make an API key",
        description:
          "Its `token` is in this answer and nowhere else. A repeat with the same `Idempotency-Key` makes no second key, and cannot show the token again.",
        body: NewApiKey,
        answer: CreatedApiKey,
        status: 201,
        problems: [409, 429],
      }),
    },
    async (request, reply) => {
      const { name, roles = [], expires_in_days: expiresInDays = 0 } = request.body;
      const asked = { name, roles, expiresInDays };
      const { key, token } = await access.createApiKey(asked, writing(callOf(request, reply)));
      return reply.code(201).send({ ...renderApiKey(required(key, "key")), token });
    },
  );

  api.delete(
    "/api-keys/:id",
    {
      schema: operation({
        id: "revokeApiKey",
        tag: "Access",
        summary: "Revoke an API key",
        description: "It is refused everywhere within 5 seconds.",
        params: z.strictObject({ id: Id }),
        body: NoBody,
        answer: ApiKey,
        problems: [404],
      }),
    },
    async (request, reply) => {
      const keyId = request.params.id;
      const { key } = await access.revokeApiKey({ keyId }, writing(callOf(request, reply)));
      return renderApiKey(required(key, "key"));
    },
  );
}
