import { loadSettings, type SecretSource, type Settings } from "@lapse/kit";
import type { ObjectStoreSettings } from "@lapse/object-store";

/** The settings of this service, with what it cannot run without. */
export type CatalogSettings = Settings & {
  readonly database: { readonly url: string };
  readonly nats: { readonly url: string };
  readonly auth: { readonly serviceToken: SecretSource };
};

/**
 * Reads the settings.
 *
 * @throws invalid `SETTINGS_INVALID` naming every fault.
 */
export const readSettings = (env: Readonly<Record<string, string | undefined>>): CatalogSettings =>
  loadSettings(env, {
    requires: ["database", "nats", "auth", "serviceToken", "objectStore"],
    defaults: { LAPSE_SERVICE__GRPC_PORT: "7401", LAPSE_SERVICE__OPERATIONS_PORT: "7501" },
  });

/** Which object store holds the files. */
export function objectStoreSettings({ objectStore }: CatalogSettings): ObjectStoreSettings {
  const { kind, path } = objectStore;
  // Without a path it is refused as no absolute one.
  return kind === "file" ? { kind, path: path ?? "" } : { kind };
}
