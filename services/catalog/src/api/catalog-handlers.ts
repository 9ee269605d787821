import type { Handlers } from "@lapse/kit";
import type { CatalogService } from "@lapse/proto/catalog";
import type { CatalogDeps } from "../app/deps.ts";
import { environmentHandlers } from "./environment-handlers.ts";
import { holdHandlers } from "./hold-handlers.ts";
import { namespaceHandlers } from "./namespace-handlers.ts";
import { projectHandlers } from "./project-handlers.ts";
import { purgeHandlers } from "./purge-handlers.ts";
import { tableHandlers } from "./table-handlers.ts";
import { tableReadHandlers } from "./table-read-handlers.ts";

/** Everything that `lapse.catalog.v1.CatalogService` answers. */
export const catalogHandlers = (deps: CatalogDeps): Handlers<typeof CatalogService> => ({
  ...environmentHandlers(deps),
  ...tableReadHandlers(deps),
  ...tableHandlers(deps),
  ...holdHandlers(deps),
  ...namespaceHandlers(deps),
  ...projectHandlers(deps),
  ...purgeHandlers(deps),
});
