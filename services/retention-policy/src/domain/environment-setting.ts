import type { EnvironmentRetention, Setting } from "@lapse/rules";

/** What was set for an environment: days, or null: turned off (T7). */
export interface EnvironmentSetting extends Setting {
  readonly days: number | null;
}

/** The retention that a setting gives every managed table without a rule of its own; null: none. */
export function retentionOf(setting: EnvironmentSetting | null): EnvironmentRetention | null {
  if (setting === null || setting.days === null) {
    return null;
  }
  return { days: setting.days, setBy: setting.setBy, setAt: setting.setAt };
}
