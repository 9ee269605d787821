import { loadSettings, type SecretSource, type Settings } from "@lapse/kit";

/** The settings, with what the gateway cannot run without. */
export type GatewaySettings = Settings & {
  readonly nats: { readonly url: string };
  readonly auth: { readonly serviceToken: SecretSource };
};

/**
 * Reads the settings for the gateway.
 *
 * @throws invalid `SETTINGS_INVALID` naming every fault.
 */
export const readSettings = (env: Readonly<Record<string, string | undefined>>): GatewaySettings =>
  loadSettings(env, {
    requires: ["nats", "auth", "serviceToken"],
    defaults: { LAPSE_SERVICE__OPERATIONS_PORT: "7506" },
  });
