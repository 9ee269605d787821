export {
  ActivityPublisher,
  type ActivityPublisherOptions,
} from "./activity-publisher/activity-publisher.ts";
export { ActivityNotStoredError, type NotStoredReason } from "./activity-publisher/errors.ts";
export type { TableUse } from "./activity-publisher/table-use.ts";
export type { NewApiKey } from "./api/api-keys.ts";
export type { StreamQuery } from "./api/audit.ts";
export type { Deployment } from "./api/projects.ts";
export type { HeldRole } from "./api/roles.ts";
export type { SweepConfirmation } from "./api/sweeps.ts";
export type { TableChange } from "./api/table.ts";
export type { NewColumnMask, NewRowFilter } from "./api/table-access.ts";
export type { FilesOptions } from "./api/table-files.ts";
export type { NewTable } from "./api/tables.ts";
export { createClient, type LapseClient } from "./client.ts";
export type { ErrorCode, KnownErrorCode } from "./error-codes.ts";
export {
  type Fault,
  LapseApiError,
  LapseInputError,
  LapseUnreachableError,
  type Problem,
} from "./errors.ts";
export type { CallOptions, HttpSettings, WriteOptions } from "./http/http.ts";
export type { Listing, Page, PageRequest } from "./listing.ts";
export { parseTablePath, type TablePath } from "./table-path.ts";
export type * from "./types/access.ts";
export type * from "./types/decision.ts";
export type * from "./types/environment.ts";
export type * from "./types/operations.ts";
export type * from "./types/retention.ts";
export type * from "./types/sweep.ts";
export type * from "./types/table.ts";
