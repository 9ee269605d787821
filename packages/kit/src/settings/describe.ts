import type { Settings } from "./load.ts";
import { NAMED_SETTINGS } from "./names.ts";

/**
 * The settings in force, for the log: by variable name, durations in milliseconds, secrets only as given
 * or not.
 */
export function describeSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    NAMED_SETTINGS.map(({ name, path, setting }) => {
      const value = path.reduce<unknown>(
        (at, key) => (at as Record<string, unknown>)[key],
        settings,
      );
      return [name, setting.secret && value !== undefined ? "[secret]" : value];
    }),
  );
}
