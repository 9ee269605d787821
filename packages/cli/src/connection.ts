import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "./exit.ts";

/** How to reach Lapse, and where that was found. */
export type Connection = { readonly url: string; readonly token: string; readonly from: string };

export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
};

/** Where `lapse login` keeps its answer. */
export function configFile(env: Surroundings["env"]): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), ".config");
  return join(base, "lapse", "config.json");
}

/**
 * Finds the gateway and a token: `LAPSE_URL` with `LAPSE_TOKEN`; else the `cli.json` of the local stack, in
 * the folder `LAPSE_LOCAL__DIR` names or in `.lapse` here or in a folder above; else what `lapse login` stored.
 * What is set explicitly wins over what is found. Throws a {@link UsageError} that names the three ways.
 */
export function findConnection({ env, cwd }: Surroundings): Connection {
  const url = env.LAPSE_URL;
  const token = env.LAPSE_TOKEN;
  if (url && token) return { url: checkedUrl(url, "LAPSE_URL"), token, from: "LAPSE_URL" };
  const file = localFile(env, cwd) ?? existing(configFile(env));
  if (file) {
    const stored = readConnection(file);
    return {
      url: url ? checkedUrl(url, "LAPSE_URL") : stored.url,
      token: token ?? stored.token,
      from: file,
    };
  }
  throw new UsageError(
    url
      ? "LAPSE_URL is set but LAPSE_TOKEN is not: set it too, or run `lapse login`."
      : "No Lapse to talk to: start one with `make up`, set LAPSE_URL and LAPSE_TOKEN, or run `lapse login --url URL`.",
  );
}

function localFile(env: Surroundings["env"], cwd: string): string | undefined {
  const named = env.LAPSE_LOCAL__DIR;
  if (named) {
    const file = join(resolve(cwd, named), "cli.json");
    if (existsSync(file)) return file;
    throw new UsageError(
      `LAPSE_LOCAL__DIR names ${resolve(cwd, named)}, which has no cli.json: is the stack there up?`,
    );
  }
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = existing(join(folder, ".lapse", "cli.json"));
    if (file) return file;
    if (dirname(folder) === folder) return undefined;
  }
}

function existing(file: string): string | undefined {
  return existsSync(file) ? file : undefined;
}

function readConnection(file: string): Omit<Connection, "from"> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `${file} cannot be read (${why}). Run \`lapse login\` or \`make up\` again.`,
    );
  }
  const { url, token } = (value ?? {}) as { url?: unknown; token?: unknown };
  if (typeof url !== "string" || typeof token !== "string") {
    throw new UsageError(`${file} has no url and token. Run \`lapse login\` or \`make up\` again.`);
  }
  return { url: checkedUrl(url, file), token };
}

/** The address, without a slash at its end. Throws a {@link UsageError} when it is not http or https. */
export function checkedUrl(text: string, from: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:")
    return text.replace(/\/+$/, "");
  throw new UsageError(`"${text}" (${from}) is not an address: write e.g. http://127.0.0.1:8080.`);
}
