import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CliRun,
  freePortOffset,
  type Identity,
  LocalStack,
  openIssuer,
  runCli,
  type StackPorts,
  stackPorts,
} from "@lapse/local";
import { createClient, type DecisionRecord, type LapseClient } from "@lapse/sdk";
import { testFolder } from "@lapse/test-kit";
import { type Rest, restClient } from "./rest.ts";

/** The whole system on ports and data of its own, as `make up` runs it, seen through its public surfaces. */
export type System = {
  readonly url: string;
  readonly natsUrl: string;
  readonly token: string;
  readonly client: LapseClient;
  readonly ports: StackPorts;
  /** A token of somebody. */
  readonly sign: (identity: Identity) => Promise<string>;
  /** Calls by REST with a token. */
  readonly rest: (token: string) => Rest;
  /** Where a service's database is, by the database's name, e.g. `lapse_catalog`. */
  readonly databaseUrl: (name: string) => Promise<string>;
  /** Runs the CLI as a user would. */
  readonly lapse: (...args: string[]) => Promise<CliRun>;
  /** The pid of a process by the name it has in `pids.json`. */
  readonly pid: (name: string) => number;
  readonly stop: () => Promise<void>;
};

/** Starts a system; `env` are its `LAPSE_*` settings. */
export async function startSystem(env: Readonly<Record<string, string>>): Promise<System> {
  const dir = await testFolder();
  const portOffset = await freePortOffset();
  const report: string[] = [];
  const stack = new LocalStack({
    settings: { dir, portOffset },
    env: { PATH: process.env.PATH, ...env },
    report: (line) => report.push(line),
  });
  const { url, adminToken, natsUrl } = await stack.start().catch((error: unknown) => {
    throw new Error(`the stack did not start:\n${report.join("\n")}`, { cause: error });
  });
  const ports = stackPorts(portOffset);
  const issuer = await openIssuer(dir);
  return {
    ports,
    sign: issuer.sign,
    rest: (token) => restClient(url, token),
    async databaseUrl(name) {
      const kept = await readFile(join(dir, "database-passwords.json"), "utf8");
      const passwords = JSON.parse(kept) as Record<string, string>;
      return `postgres://${name}:${passwords[name]}@127.0.0.1:${ports.postgres}/${name}`;
    },
    url,
    token: adminToken,
    natsUrl,
    client: createClient({ url, token: adminToken }),
    lapse: (...args) => runCli(args, dir),
    pid: (name) => {
      const pid = stack.pids[name];
      if (pid === undefined) throw new Error(`${name} does not run`);
      return pid;
    },
    stop: () => stack.stop(),
  };
}

/** Every decision about a resource, oldest first. */
export async function decisionsAbout(
  client: LapseClient,
  resource: string,
): Promise<DecisionRecord[]> {
  const decisions: DecisionRecord[] = [];
  for await (const decision of client.audit.list({ resource })) decisions.push(decision);
  return decisions.reverse();
}
