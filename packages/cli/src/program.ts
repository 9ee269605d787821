import { Command, Option } from "@commander-js/extra-typings";
import { auditCommand } from "./commands/audit.ts";
import { completionCommand } from "./commands/completion.ts";
import { envCommand } from "./commands/env.ts";
import { keyCommand } from "./commands/key.ts";
import { loginCommand, tokenCommand } from "./commands/login.ts";
import { namespaceCommand } from "./commands/namespace.ts";
import { opsCommand } from "./commands/ops.ts";
import { projectCommand } from "./commands/project.ts";
import { roleCommand } from "./commands/role.ts";
import { sqlCommand } from "./commands/sql.ts";
import { sweepCommand } from "./commands/sweep.ts";
import { tableCommand } from "./commands/table.ts";
import { type Context, createContext, type GlobalOptions } from "./context.ts";

/** Runs a command's work with its context, made from the global options only when it is needed. */
export type Run = (work: (context: Context) => Promise<void>) => Promise<void>;

/** The whole command tree. Nothing is read and nothing is contacted until a command runs. */
export function createProgram(): Command {
  const program = new Command("lapse")
    .description("Lets lakehouse tables, files and rows expire, and tells why.")
    .addOption(
      new Option("--env <name>", "the environment").env("LAPSE_ENVIRONMENT").default("dev"),
    )
    .option("--json", "print JSON, as the REST API gives it")
    .showHelpAfterError("(run with --help for what it takes)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();

  const run: Run = (work) => work(createContext(program.opts() as GlobalOptions));
  for (const command of [
    envCommand(run),
    namespaceCommand(run),
    projectCommand(run),
    tableCommand(run),
    sqlCommand(run),
    sweepCommand(run),
    roleCommand(run),
    keyCommand(run),
    auditCommand(run),
    opsCommand(run),
    loginCommand(),
    tokenCommand(),
    completionCommand(() => program),
  ]) {
    program.addCommand(inherit(command, program as unknown as Command));
  }
  return program as unknown as Command;
}

/** A command made on its own does not take over its parent's behaviour on errors and help; so it is given it. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child as Command, parent);
  return command;
}
