import { Argument, Command } from "@commander-js/extra-typings";
import type { HeldRole } from "@lapse/sdk";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { roleTable } from "../output/access.ts";
import type { Run } from "../program.ts";
import { ROLES } from "../roles.ts";

const roleArgument = () => new Argument("<role>").choices(ROLES);

/** `role …`: roles that hold everywhere in the tenant. */
export function roleCommand(run: Run): Command {
  const command = new Command("role").description("roles that hold in every environment");

  command
    .command("grant <subject>")
    .description("give somebody a role; a key is key:<id>")
    .addArgument(roleArgument())
    .action((subject, role) => run((context) => grant(context, { subject, role })));

  command
    .command("revoke <subject>")
    .description("take a role away from somebody")
    .addArgument(roleArgument())
    .option("--yes", "do not ask")
    .action((subject, role, { yes }) => run((context) => revoke(context, { subject, role }, yes)));

  command
    .command("list")
    .description("list the roles given, those of single environments included")
    .option("--subject <subject>", "only of this one")
    .action((filter) => run((context) => list(context, filter)));
  return command as unknown as Command;
}

/** `env role …`: roles that hold in one environment. */
export function environmentRoles(run: Run) {
  const command = new Command("role").description("roles that hold in one environment");

  command
    .command("grant <environment> <subject>")
    .description("give somebody a role in an environment; a key is key:<id>")
    .addArgument(roleArgument())
    .action((environment, subject, role) =>
      run((context) => grant(context, { subject, role, environment })),
    );

  command
    .command("revoke <environment> <subject>")
    .description("take a role in an environment away from somebody")
    .addArgument(roleArgument())
    .option("--yes", "do not ask")
    .action((environment, subject, role, { yes }) =>
      run((context) => revoke(context, { subject, role, environment }, yes)),
    );

  command
    .command("list <environment>")
    .description("list the roles given in an environment")
    .option("--subject <subject>", "only of this one")
    .action((environment, filter) => run((context) => list(context, { environment, ...filter })));
  return command;
}

async function grant({ client, output }: Context, held: HeldRole): Promise<void> {
  const granted = await client.roles.grant(held);
  output.show(granted, () => `${held.subject} is ${held.role} ${placeText(held)} now.`);
}

async function revoke(
  { client, output }: Context,
  held: HeldRole,
  yes: true | undefined,
): Promise<void> {
  await confirm(`${held.subject} loses the role ${held.role} ${placeText(held)}.`, yes);
  await client.roles.revoke(held);
  output.show(
    { ...held, revoked: true },
    () => `${held.subject} is ${held.role} ${placeText(held)} no more.`,
  );
}

async function list(
  { client, output }: Context,
  filter: { readonly environment?: string; readonly subject?: string },
): Promise<void> {
  const items = await collect(client.roles.list(filter));
  output.show({ items, next_cursor: null }, () => roleTable(items));
}

const placeText = ({ environment }: HeldRole): string =>
  environment === undefined ? "everywhere" : `in ${environment}`;
