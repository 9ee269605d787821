import { activityApi } from "./activity.ts";
import { auditApi } from "./audit.ts";
import { environmentsApi } from "./environments.ts";
import { createHttp, type HttpSettings } from "./http.ts";
import { parkedApi } from "./parked.ts";
import { sweepsApi } from "./sweeps.ts";
import { tablesApi } from "./tables.ts";
import type { SystemStatus } from "./types.ts";

/** Everything Lapse does, by REST: `createClient({ url, token }).tables.retention("dev", "bronze.trial")`. */
export function createClient(settings: HttpSettings) {
  const http = createHttp(settings);
  return {
    environments: environmentsApi(http),
    tables: tablesApi(http),
    sweeps: sweepsApi(http),
    audit: auditApi(http),
    activity: activityApi(http),
    parked: parkedApi(http),
    /** How each service does, how far events are folded, what is unsent. */
    status(): Promise<SystemStatus> {
      return http.send("GET", "api/v1/status");
    },
  };
}

export type LapseClient = ReturnType<typeof createClient>;
