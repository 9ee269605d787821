import { SETTINGS } from "./catalogue.ts";
import type { Setting } from "./setting.ts";

/** A setting with its place in the tree and its name in the environment. */
export interface NamedSetting {
  readonly name: string;
  readonly path: readonly string[];
  readonly setting: Setting<unknown>;
}

export const PREFIX = "LAPSE_";
export const FILE_SUFFIX = "_FILE";

/** `["tables", "undoDays"]` is `LAPSE_TABLES__UNDO_DAYS`. */
export const variableName = (path: readonly string[]): string =>
  PREFIX +
  path
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`))
    .join("__")
    .toUpperCase();

/** All settings, in the order of the catalogue. */
export const NAMED_SETTINGS: readonly NamedSetting[] = collect(SETTINGS, []);

function collect(tree: object, at: readonly string[]): NamedSetting[] {
  return Object.entries(tree).flatMap(([key, value]: [string, Setting<unknown> | object]) => {
    const path = [...at, key];
    return "fromFile" in value
      ? [{ name: variableName(path), path, setting: value as Setting<unknown> }]
      : collect(value, path);
  });
}

/** Every name a service may be given. */
export const KNOWN_NAMES: readonly string[] = NAMED_SETTINGS.flatMap(({ name, setting }) =>
  setting.fromFile ? [name, name + FILE_SUFFIX] : [name],
);

/** The known name that `name` most likely means, if one is near enough. */
export function nearestName(name: string): string | undefined {
  const ranked = KNOWN_NAMES.map((known) => ({ known, distance: editDistance(name, known) }));
  const [best] = ranked.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(2, name.length / 4) ? best.known : undefined;
}

/** How many letters must be added, removed or replaced to make `b` of `a`. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
