import { type FieldViolation, invalid } from "../errors.ts";
import type { SETTINGS } from "./catalogue.ts";
import {
  FILE_SUFFIX,
  KNOWN_NAMES,
  NAMED_SETTINGS,
  type NamedSetting,
  nearestName,
  PREFIX,
} from "./names.ts";
import { contradictions, missing, type Required, type RequiredName } from "./requirements.ts";
import { readSecretFile } from "./secret-file.ts";
import type { Values } from "./setting.ts";

/** Every setting of the system, as a service reads it; see `docs/reference/configuration.md`. */
export type Settings = Values<typeof SETTINGS>;

type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadOptions<R extends RequiredName> {
  /** What this service cannot run without; these are then not undefined in the result. */
  readonly requires?: readonly R[];
  /** This service's own defaults, by variable name: `{LAPSE_SERVICE__GRPC_PORT: "7405"}`. */
  readonly defaults?: Environment;
}

/**
 * The settings in `env`, frozen.
 *
 * @throws invalid `SETTINGS_INVALID` naming every fault at once: unknown keys, values that are not
 *   allowed, files that cannot be read, what is missing and what contradicts. No secret is shown.
 */
export function loadSettings<R extends RequiredName = never>(
  env: Environment,
  { requires = [], defaults = {} }: LoadOptions<R> = {},
): Settings & Required<R> {
  const faults: FieldViolation[] = unknownNames(env);
  const tree: Record<string, unknown> = {};
  for (const named of NAMED_SETTINGS) {
    const value = readOne(named, env, defaults, faults);
    place(tree, named.path, value);
  }
  // Every path of the catalogue was placed above, with a value of its own kind or undefined.
  const settings = tree as Settings;
  const badlyGiven = new Set(faults.map(({ field }) => field));
  faults.push(
    ...missing(settings, requires).filter(({ field }) => !badlyGiven.has(field)),
    ...contradictions(settings),
  );
  if (faults.length > 0) throw refusal(faults);
  return deepFreeze(tree) as Settings & Required<R>;
}

function refusal(faults: readonly FieldViolation[]) {
  const lines = faults.map(({ field, description }) => `  ${field}: ${description}`);
  const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
  return invalid("SETTINGS_INVALID", `the configuration has ${count}:\n${lines.join("\n")}`, {
    violations: faults,
  });
}

/** An empty variable counts as not given: that is how compose files and shells leave one out. */
const given = (env: Environment, name: string): string | undefined => env[name] || undefined;

function readOne(
  { name, setting }: NamedSetting,
  env: Environment,
  defaults: Environment,
  faults: FieldViolation[],
): unknown {
  const direct = given(env, name);
  const file = setting.fromFile ? given(env, name + FILE_SUFFIX) : undefined;
  const fault = (field: string, description: string) => {
    faults.push({ field, description });
    return undefined;
  };
  if (direct !== undefined && file !== undefined) {
    return fault(name, `given here and in ${name + FILE_SUFFIX}; give one of them`);
  }
  let text = direct;
  if (file !== undefined) {
    try {
      text = readSecretFile(file);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      return fault(name + FILE_SUFFIX, `${file} cannot be read (${code})`);
    }
  }
  text ??= given(defaults, name) ?? setting.fallback;
  if (text === undefined) return undefined;
  const value = setting.kind.parse(text, file);
  if (value !== undefined) return value;
  const shown = setting.secret ? "its value (not shown)" : JSON.stringify(text.slice(0, 80));
  return fault(
    file === undefined ? name : name + FILE_SUFFIX,
    `${shown} is not allowed; expected ${setting.kind.allowed}`,
  );
}

/** Read by the CLI or by the local stack, and refused here rather than mistaken for a service's key. */
const NOT_FOR_SERVICES = /^LAPSE_(LOCAL__.+|URL|TOKEN|ENVIRONMENT)$/;

function unknownNames(env: Environment): FieldViolation[] {
  const known = new Set(KNOWN_NAMES);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== undefined && !known.has(name))
    .sort()
    .map((field) => ({ field, description: whyUnknown(field) }));
}

function whyUnknown(name: string): string {
  if (NOT_FOR_SERVICES.test(name)) {
    return "is for the command line or the local stack; a service must not be given it";
  }
  const withoutFile = name.endsWith(FILE_SUFFIX) && name.slice(0, -FILE_SUFFIX.length);
  if (withoutFile && KNOWN_NAMES.includes(withoutFile)) {
    return `only secrets are read from files; give ${withoutFile}`;
  }
  const nearest = nearestName(name);
  return nearest ? `is not a setting; did you mean ${nearest}?` : "is not a setting";
}

function place(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  tree[key] ??= {};
  place(tree[key] as Record<string, unknown>, rest, value);
}

function deepFreeze<T extends object>(tree: T): T {
  for (const value of Object.values(tree)) {
    if (typeof value === "object" && value !== null) deepFreeze(value);
  }
  return Object.freeze(tree);
}
