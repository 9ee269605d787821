import { loadSettings, type SecretSource, type Settings } from "@lapse/kit";

/** The settings of this service, with what it cannot run without. */
export type EvaluatorSettings = Settings & {
  readonly database: { readonly url: string };
  readonly nats: { readonly url: string };
  readonly auth: { readonly serviceToken: SecretSource };
};

/**
 * Reads the settings.
 *
 * @throws invalid `SETTINGS_INVALID` naming every fault
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): EvaluatorSettings {
  return loadSettings(env, {
    requires: ["database", "nats", "auth", "serviceToken"],
    defaults: { LAPSE_SERVICE__GRPC_PORT: "7403", LAPSE_SERVICE__OPERATIONS_PORT: "7503" },
  });
}
