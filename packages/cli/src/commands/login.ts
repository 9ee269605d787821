import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline/promises";
import { Command } from "@commander-js/extra-typings";
import { createClient } from "@lapse/sdk";
import { checkedUrl, configFile, findConnection } from "../connection.ts";
import { UsageError } from "../exit.ts";

/** Stores an address and a token once they were found to work. */
export function loginCommand(): Command {
  return new Command("login")
    .description("store an address and a token for this user")
    .requiredOption("--url <url>", "where Lapse listens, e.g. https://lapse.example.org")
    .action(async ({ url }) => {
      const address = checkedUrl(url, "--url");
      const token = await readToken();
      await createClient({ url: address, token }).environments.list().page({ limit: 1 });
      const file = configFile(process.env);
      writePrivately(file, `${JSON.stringify({ url: address, token }, null, 2)}\n`);
      process.stdout.write(`Stored in ${file}.\n`);
    }) as unknown as Command;
}

/** Prints the token in use, for curl and other programs. */
export function tokenCommand(): Command {
  return new Command("token")
    .description('print the token in use, e.g. curl -H "authorization: Bearer $(lapse token)"')
    .action(() => {
      process.stdout.write(`${findConnection({ env: process.env, cwd: process.cwd() }).token}\n`);
    }) as unknown as Command;
}

/** A token is never an argument: those are seen by every user of the machine. */
async function readToken(): Promise<string> {
  const prompt = createInterface({
    input: process.stdin,
    ...(process.stdin.isTTY ? { output: process.stderr } : {}),
  });
  try {
    const answer = process.stdin.isTTY
      ? await prompt.question("Token: ")
      : (await prompt[Symbol.asyncIterator]().next()).value;
    const token = String(answer ?? "").trim();
    if (!token) throw new UsageError("No token was given: paste it, or pipe it in.");
    return token;
  } finally {
    prompt.close();
  }
}

function writePrivately(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}
