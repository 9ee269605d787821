import { createClient, type LapseClient } from "@lapse/sdk";
import { findConnection } from "./connection.ts";
import { createOutput, type Output } from "./output/print.ts";

/** The options every command takes. */
export type GlobalOptions = { readonly json?: true; readonly env: string };

/** What a command works with. */
export type Context = {
  readonly client: LapseClient;
  /** The environment the command is about: `--env`, `LAPSE_ENVIRONMENT`, or `dev`. */
  readonly environment: string;
  readonly output: Output;
};

export function createContext(options: GlobalOptions): Context {
  const { url, token } = findConnection({ env: process.env, cwd: process.cwd() });
  return {
    client: createClient({ url, token }),
    environment: options.env,
    output: createOutput(options.json === true),
  };
}
