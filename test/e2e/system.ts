import { type CliRun, freePortOffset, LocalStack, runCli } from "@lapse/local";
import { createClient, type DecisionRecord, type LapseClient } from "@lapse/sdk";
import { testFolder } from "@lapse/test-kit";

/** The whole system on ports and data of its own, as `make up` runs it, seen through its public surfaces. */
export type System = {
  readonly url: string;
  readonly natsUrl: string;
  readonly token: string;
  readonly client: LapseClient;
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
  return {
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
  const page = await client.audit.list({ resource, limit: 1000 });
  return [...page.items].reverse();
}
