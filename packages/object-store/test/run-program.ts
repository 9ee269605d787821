import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import ts from "typescript";

const PACKAGE = join(import.meta.dirname, "..");

/** This package's sources and `test/programs`, compiled so that a process of its own can run them. */
export interface Programs {
  /** Starts one, through `wrapper` (a command that runs its arguments) where given. */
  start(name: string, options: ProgramOptions): ChildProcess;
  remove(): Promise<void>;
}

export interface ProgramOptions {
  readonly args: readonly string[];
  readonly wrapper?: readonly string[];
}

export async function compilePrograms(): Promise<Programs> {
  const target = await mkdtemp(join(tmpdir(), "lapse-programs-"));
  await writeFile(join(target, "package.json"), '{"type":"module"}');
  for (const folder of ["src", "test/programs"]) {
    for (const file of await readdir(join(PACKAGE, folder), { recursive: true })) {
      if (file.endsWith(".ts")) await compile(join(folder, file), target);
    }
  }
  return {
    start(name, { args, wrapper = [] }) {
      const program = join(target, "test/programs", `${name}.js`);
      const [command = "", ...rest] = [...wrapper, process.execPath, program, ...args];
      return spawn(command, rest, {
        stdio: ["ignore", "pipe", "inherit"],
        env: { PATH: process.env.PATH ?? "" },
      });
    },
    remove: () => rm(target, { recursive: true }),
  };
}

async function compile(file: string, target: string): Promise<void> {
  const source = await readFile(join(PACKAGE, file), "utf8");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    },
  });
  const written = join(target, file.replace(/\.ts$/, ".js"));
  await mkdir(dirname(written), { recursive: true });
  await writeFile(written, outputText);
}
