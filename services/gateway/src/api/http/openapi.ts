import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import type { Api } from "./api.ts";
import { NoBody } from "./operation.ts";
import { TAGS } from "./tags.ts";
import { tidyDocument } from "./tidy-document.ts";

type TransformInput = Parameters<typeof jsonSchemaTransform>[0];

/** Adds `/openapi.json` and `/docs`; the routes registered after it are in both. */
export async function documentApi(api: Api): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Lapse",
        version: "1",
        description:
          "Lets lakehouse tables expire and records every decision. Times are RFC 3339 in UTC. Lists are paged " +
          "by `limit` and `cursor`. Every failure is `application/problem+json` with a stable `code`. Writes " +
          "take an `Idempotency-Key`, so that a repeated call has one effect.",
      },
      tags: TAGS.map((tag) => ({ ...tag })),
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "A JWT, or an API key." },
        },
      },
      security: [{ bearer: [] }],
    },
    transform: describeRoute,
    transformObject: (input) => tidyDocument(jsonSchemaTransformObject(input)),
  });
  await api.register(swaggerUi, {
    routePrefix: "/docs",
    // The document is the same one; nothing is loaded from elsewhere or sent to a validator.
    uiConfig: { url: "/openapi.json", docExpansion: "list", validatorUrl: null },
    staticCSP: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'", "'unsafe-inline'"],
      "img-src": ["'self'", "data:"],
      "font-src": ["'self'", "data:"],
      "connect-src": ["'self'"],
      "frame-ancestors": ["'none'"],
    },
  });
  api.get("/openapi.json", { schema: { hide: true } }, async () => api.swagger());
  api.get("/", { schema: { hide: true } }, async (_request, reply) => reply.redirect("/docs"));
}

/** A route that takes no body is shown without one. */
function describeRoute(input: TransformInput) {
  const { schema } = input;
  if (schema?.body !== NoBody) return jsonSchemaTransform(input);
  const { body: _none, ...rest } = schema;
  return jsonSchemaTransform({ ...input, schema: rest });
}
