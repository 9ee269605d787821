import { activityApi } from "./api/activity.ts";
import { apiKeysApi } from "./api/api-keys.ts";
import { auditApi } from "./api/audit.ts";
import { environmentsApi } from "./api/environments.ts";
import { namespacesApi } from "./api/namespaces.ts";
import { parkedApi } from "./api/parked.ts";
import { projectsApi } from "./api/projects.ts";
import { rolesApi } from "./api/roles.ts";
import { sweepsApi } from "./api/sweeps.ts";
import { tablesApi } from "./api/tables.ts";
import { type CallOptions, createHttp, type HttpSettings } from "./http/http.ts";
import { readSystemStatus, type SystemStatus } from "./types/operations.ts";

/**
 * Everything Lapse does, by REST: `createClient({ url, token }).tables.retention("dev", "bronze.trial")`.
 *
 * What it answers has the names of the REST API, with times as `Date`. Counts are numbers: the API gives none of 2^53
 * and above, and the client refuses one that comes all the same, so none is ever rounded. Calls are tried again while
 * Lapse cannot be reached or is busy, writes under one `Idempotency-Key`; every call takes a `signal`.
 *
 * Calls throw `LapseApiError` for an answer that is none, `LapseUnreachableError` where there was no
 * answer, `LapseInputError` for an argument that cannot be sent, and the reason of an aborted signal.
 */
export function createClient(settings: HttpSettings) {
  const http = createHttp(settings);
  return {
    environments: environmentsApi(http),
    namespaces: namespacesApi(http),
    projects: projectsApi(http),
    tables: tablesApi(http),
    roles: rolesApi(http),
    apiKeys: apiKeysApi(http),
    sweeps: sweepsApi(http),
    audit: auditApi(http),
    activity: activityApi(http),
    parked: parkedApi(http),
    /** How each service does, how far events are folded, what is unsent. */
    async status(options?: CallOptions): Promise<SystemStatus> {
      return readSystemStatus(await http.send("GET", "api/v1/status", { options }));
    },
  };
}

export type LapseClient = ReturnType<typeof createClient>;
