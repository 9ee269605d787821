import type { Handlers } from "@lapse/kit";
import type { AccessService } from "@lapse/proto/catalog";
import type { CatalogDeps } from "../app/deps.ts";
import { accessPeerHandlers } from "./access-peer-handlers.ts";
import { apiKeyHandlers } from "./api-key-handlers.ts";
import { roleHandlers } from "./role-handlers.ts";
import { tableAccessHandlers } from "./table-access-handlers.ts";

/** Everything that `lapse.catalog.v1.AccessService` answers. */
export const accessHandlers = (deps: CatalogDeps): Handlers<typeof AccessService> => ({
  ...roleHandlers(deps),
  ...tableAccessHandlers(deps),
  ...apiKeyHandlers(deps),
  ...accessPeerHandlers(deps),
});
