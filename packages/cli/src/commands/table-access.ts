import { Argument, type Command } from "@commander-js/extra-typings";
import { confirm } from "../confirm.ts";
import { accessText } from "../output/access.ts";
import type { Run } from "../program.ts";

const RIGHTS = ["read", "write", "drop"] as const;

/** `table access`, `table grant` and `table revoke`. */
export function addTableAccess(tables: Command, run: Run): void {
  tables
    .command("access <table>")
    .description("show its owner, grants, row filters and column masks")
    .action((name) =>
      run(async ({ client, environment, output }) => {
        const access = await client.tables.access.get(environment, name);
        output.show(access, () => accessText(name, access));
      }),
    );

  tables
    .command("grant <table> <subject>")
    .description("give somebody a right on it; write and drop include read")
    .addArgument(new Argument("<right>").choices(RIGHTS))
    .action((name, subject, right) =>
      run(async ({ client, environment, output }) => {
        const grant = { subject, right };
        const access = await client.tables.access.grant(environment, name, grant);
        output.show(access, () => `${subject} may ${right} ${name} now.`);
      }),
    );

  tables
    .command("revoke <table> <subject>")
    .description("take a right on it away from somebody")
    .addArgument(new Argument("<right>").choices(RIGHTS))
    .option("--yes", "do not ask")
    .action((name, subject, right, { yes }) =>
      run(async ({ client, environment, output }) => {
        await confirm(`${subject} loses the grant to ${right} ${name} in ${environment}.`, yes);
        const grant = { subject, right };
        const access = await client.tables.access.revoke(environment, name, grant);
        output.show(access, () => `${subject} has the grant to ${right} ${name} no more.`);
      }),
    );
}
