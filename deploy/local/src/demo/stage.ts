import { setTimeout as delay } from "node:timers/promises";
import { styleText } from "node:util";
import { type CliRun, runCli } from "../cli.ts";

/** Something that did not happen as it should: the demo ends there, and not with 0. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";
}

/** Where a demo is played: it tells the audience what happens, and runs the CLI as they would. */
export class Stage {
  readonly #dir: string;
  readonly #write: (text: string) => void;

  /** `dir` is where the stack it plays on keeps its data. */
  constructor(dir: string, write: (text: string) => void) {
    this.#dir = dir;
    this.#write = write;
  }

  /** A heading for what comes next. */
  chapter(title: string): void {
    this.#write(`\n${colored(["bold", "cyan"], `── ${title}`)}\n`);
  }

  /** A sentence for the audience. */
  say(text: string): void {
    this.#write(`${colored("dim", text)}\n`);
  }

  /** Runs a command and shows both it and what it prints. Fails unless it ends with `expected`. */
  async lapse(args: readonly string[], expected = 0): Promise<string> {
    this.#write(`\n${colored("green", "$")} lapse ${args.map(shellWord).join(" ")}\n`);
    const ran = await this.run(args);
    this.#write(indent(ran.stdout));
    this.#write(indent(ran.stderr));
    if (ran.code !== expected) {
      throw new DemoFailure(`lapse ${args[0]} ended with ${ran.code} instead of ${expected}.`);
    }
    return ran.stdout + ran.stderr;
  }

  /** Runs a command unseen and returns its JSON. */
  async json<T>(args: readonly string[]): Promise<T> {
    const ran = await this.run([...args, "--json"]);
    if (ran.code !== 0) throw new DemoFailure(`lapse ${args.join(" ")}: ${ran.stderr}`);
    return JSON.parse(ran.stdout) as T;
  }

  /** Runs a command unseen. */
  run(args: readonly string[]): Promise<CliRun> {
    return runCli(args, this.#dir);
  }

  /** States what must be true, and ends the demo when it is not. */
  check(holds: boolean, claim: string): void {
    if (!holds) throw new DemoFailure(`This should be so and is not: ${claim}`);
    this.#write(`${colored("green", "✓")} ${claim}\n`);
  }

  /** Waits until `condition` holds; fails after `timeoutMs`. */
  async until(claim: string, condition: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(await condition())) {
      if (performance.now() > deadline) {
        throw new DemoFailure(`Waited ${timeoutMs / 1000} s in vain: ${claim}`);
      }
      await delay(200);
    }
    this.check(true, claim);
  }
}

function indent(text: string): string {
  if (text.trim() === "") return "";
  return `${text.trimEnd().replaceAll(/^/gm, "  ")}\n`;
}

function shellWord(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `"${word.replaceAll(/(["$`\\])/g, "\\$1")}"`;
}

/** Colours are for a terminal; a file or a pipe gets plain text. */
function colored(format: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(format, text) : text;
}
