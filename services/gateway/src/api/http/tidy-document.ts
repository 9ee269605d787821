import type { jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { OPTIONAL_BODY } from "./operation.ts";

/** An OpenAPI document as its generator types it. */
type Generated = ReturnType<typeof jsonSchemaTransformObject>;

/** What is looked at of it here. */
interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

interface Operation {
  readonly requestBody?: object;
  readonly [OPTIONAL_BODY]?: boolean;
}

const PREFIX = "#/components/schemas/";

/**
 * The document without what only its generator needs: schemas that no route refers to (each is offered as
 * input and as output), `Input` in the name of one that is an input only, and marks of optional bodies.
 */
export function tidyDocument(generated: Generated): Generated {
  const document = generated as Document;
  const schemas = document.components?.schemas ?? {};
  const paths = mapValues(document.paths ?? {}, (path) => mapValues(path, withBody));
  const used = referredTo(paths, schemas);
  const nameOf = (name: string): string => {
    const plain = name.replace(/Input$/, "");
    return used.has(plain) ? name : plain;
  };
  const rename = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
      typeof inner === "string" && inner.startsWith(PREFIX)
        ? PREFIX + nameOf(inner.slice(PREFIX.length))
        : inner,
    );
  const named = [...used].sort().map((name) => [nameOf(name), rename(schemas[name])]);
  const components = { ...document.components, schemas: Object.fromEntries(named) };
  return { ...document, paths: rename(paths), components } as Generated;
}

function withBody({ [OPTIONAL_BODY]: optional, ...operation }: Operation): Operation {
  if (!optional || !operation.requestBody) return operation;
  return { ...operation, requestBody: { ...operation.requestBody, required: false } };
}

/** The names of all schemas that `value` refers to, itself or through another. */
function referredTo(value: unknown, schemas: Readonly<Record<string, unknown>>): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(REFERENCE)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name] ?? null);
    }
  };
  visit(value);
  return found;
}

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

const mapValues = <T>(record: Readonly<Record<string, T>>, map: (value: T) => T) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
