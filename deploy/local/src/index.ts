export { type CliRun, runCli } from "./cli.ts";
export { runInForeground } from "./foreground.ts";
export { type Identity, openIssuer } from "./keys.ts";
export type { Launch } from "./launch.ts";
export { LocalError } from "./local-error.ts";
export { type NatsOptions, natsAnswers, type PreparedNats, prepareNats } from "./nats-server.ts";
export { freePortOffset, isPortFree, type StackPorts, stackPorts } from "./ports.ts";
export {
  type PostgresOptions,
  type PreparedPostgres,
  postgresAnswers,
  preparePostgres,
} from "./postgres.ts";
export { isAlive, type ProcessReference, referTo, stopProcess } from "./process-identity.ts";
export { takeLock } from "./process-lock.ts";
export { repositoryServices, type ServiceDefinition } from "./services.ts";
export type { LocalSettings } from "./settings.ts";
export { LocalStack, type StackAccess, type StackOptions } from "./stack.ts";
export { until } from "./until.ts";
