export { createClient, type LapseClient } from "./client.ts";
export { type Fault, LapseApiError, LapseInputError, LapseUnreachableError } from "./errors.ts";
export type { HttpSettings } from "./http.ts";
export { eachItem } from "./pages.ts";
export { parseTablePath } from "./table-path.ts";
export type * from "./types.ts";
