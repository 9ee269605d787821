import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import type { CreatedApiKey } from "@lapse/sdk";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import { keyTable } from "../output/access.ts";
import { fields } from "../output/print.ts";
import { instantText } from "../output/time.ts";
import type { Run } from "../program.ts";
import { rolesArgument } from "../roles.ts";

/** `key …`: bearer tokens for programs. */
export function keyCommand(run: Run): Command {
  const command = new Command("key").description("API keys: bearer tokens for programs");

  command
    .command("create <name>")
    .description("make a key, e.g. for the nightly load; its token is shown once")
    .option(
      "--role <role>",
      "a role it has, no more than you have; repeat it for more",
      rolesArgument,
    )
    .option("--days <n>", "calendar days until it expires, 1 to 365; 90 unless given", keyDays)
    .action((name, { role: roles, days }) =>
      run(async ({ client, output }) => {
        const made = await client.apiKeys.create({
          name,
          ...(roles === undefined ? {} : { roles }),
          ...(days === undefined ? {} : { expiresInDays: days }),
        });
        output.show(made, () => createdText(made));
      }),
    );

  command
    .command("list")
    .description("list keys: an admin sees all of the tenant, others their own")
    .action(() =>
      run(async ({ client, output }) => {
        const items = await collect(client.apiKeys.list());
        output.show({ items, next_cursor: null }, () => keyTable(items));
      }),
    );

  command
    .command("revoke <id>")
    .description("revoke a key; it is refused everywhere within 5 seconds")
    .option("--yes", "do not ask")
    .action((id, { yes }) =>
      run(async ({ client, output }) => {
        await confirm(`Key ${id} is refused from then on, for good.`, yes);
        const revoked = await client.apiKeys.revoke(id);
        output.show(revoked, () => `Key ${revoked.name} (${revoked.id}) is revoked.`);
      }),
    );
  return command as unknown as Command;
}

function createdText(key: CreatedApiKey): string {
  const shown = fields([
    ["token", key.token],
    ["key", key.id],
    ["acts as", key.subject],
    ["roles", key.roles.join(", ") || `none: give some with lapse role grant ${key.subject} ROLE`],
    ["expires", instantText(key.expires_at)],
  ]);
  return `${shown}\n\nThe token is shown this once and cannot be had again: store it now.`;
}

function keyDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= 365) return days;
  throw new InvalidArgumentError("Give a whole number of days from 1 to 365.");
}
