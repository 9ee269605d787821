import { Command } from "@commander-js/extra-typings";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import { namespaceTable } from "../output/environments.ts";
import type { Run } from "../program.ts";

/** `namespace …`: a table creates its namespace by itself; these are for looking, and for tidying up. */
export function namespaceCommand(run: Run): Command {
  const command = new Command("namespace").description("namespaces of the environment");

  command
    .command("create <path>")
    .description("create a namespace, e.g. bronze.raw; a table creates its own by itself")
    .action((path) =>
      run(async ({ client, environment, output }) => {
        const made = await client.namespaces.create(environment, path);
        output.show(made, () => `Created namespace ${made.path} in ${made.environment}.`);
      }),
    );

  command
    .command("list")
    .description("list namespaces")
    .action(() =>
      run(async ({ client, environment, output }) => {
        const items = await collect(client.namespaces.list(environment));
        output.show({ items, next_cursor: null }, () => namespaceTable(items, environment));
      }),
    );

  command
    .command("delete <path>")
    .description("delete a namespace that has no tables, nor any below it, dropped ones included")
    .option("--yes", "do not ask")
    .action((path, { yes }) =>
      run(async ({ client, environment, output }) => {
        await confirm(`Namespace ${path} of ${environment} is deleted.`, yes);
        await client.namespaces.delete(environment, path);
        output.show({ environment, path, deleted: true }, () => `Namespace ${path} is deleted.`);
      }),
    );
  return command as unknown as Command;
}
