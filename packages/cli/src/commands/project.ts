import { readFileSync } from "node:fs";
import { Command } from "@commander-js/extra-typings";
import { severalArgument } from "../arguments.ts";
import { collect } from "../collect.ts";
import { confirm } from "../confirm.ts";
import { UsageError } from "../exit.ts";
import { projectTable } from "../output/environments.ts";
import { quantity } from "../output/words.ts";
import type { Run } from "../program.ts";

/** `project …`: the tables that a deployed project builds never expire there (T20). */
export function projectCommand(run: Run): Command {
  const command = new Command("project").description("projects deployed in the environment");

  command
    .command("deploy <project> <version>")
    .description("make a version current; the tables that it builds never expire there")
    .option("--asset <table>", "a table that it builds; repeat it for more", severalArgument)
    .option("--assets-file <file>", "names of tables, one a line; - reads them from stdin")
    .action((project, version, { asset, assetsFile }) =>
      run(async ({ client, environment, output }) => {
        if (asset !== undefined && assetsFile !== undefined) {
          throw new UsageError("Give --asset or --assets-file, not both.");
        }
        const assets = assetsFile === undefined ? asset : readAssets(assetsFile);
        const deployment = { version, ...(assets === undefined ? {} : { assets }) };
        const deployed = await client.projects.deploy(environment, project, deployment);
        output.show(
          deployed,
          () =>
            `${project} ${deployed.version} is current in ${environment} and keeps ${quantity(deployed.assets.length, "table")}.`,
        );
      }),
    );

  command
    .command("undeploy <project>")
    .description("take a project out; the tables that it built can expire again")
    .option("--yes", "do not ask")
    .action((project, { yes }) =>
      run(async ({ client, environment, output }) => {
        await confirm(`The tables of ${project} in ${environment} can expire again.`, yes);
        await client.projects.undeploy(environment, project);
        output.show(
          { environment, name: project, undeployed: true },
          () => `${project} is no longer deployed in ${environment}.`,
        );
      }),
    );

  command
    .command("list")
    .description("list what is deployed, and how many tables it keeps")
    .action(() =>
      run(async ({ client, environment, output }) => {
        const items = await collect(client.projects.list(environment));
        output.show({ items, next_cursor: null }, () => projectTable(items, environment));
      }),
    );
  return command as unknown as Command;
}

/** Empty lines and those that begin with `#` are passed over. */
function readAssets(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file} cannot be read: ${why}`);
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}
