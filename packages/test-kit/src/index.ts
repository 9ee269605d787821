export { freePort } from "./free-port.ts";
export type { Migrations } from "./migrations.ts";
export { postgresAdminUrl } from "./postgres-server.ts";
export { testFolder } from "./run-directory.ts";
export { type TestDatabase, type TestDatabaseOptions, testDatabase } from "./test-database.ts";
export { type TestNats, testNats } from "./test-nats.ts";
export { type TestTokens, type TokenClaims, testTokens } from "./test-tokens.ts";
export { type WaitOptions, waitFor } from "./wait-for.ts";
