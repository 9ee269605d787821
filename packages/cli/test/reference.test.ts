import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { createProgram } from "../src/program.ts";

const reference = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "docs", "reference", "cli.md"),
  "utf8",
);

/** Every command that does something, by its full name. */
function commandsOf(command: Command, name = "lapse"): (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[name, command]];
  return command.commands.flatMap((child) => commandsOf(child, `${name} ${child.name()}`));
}

const COMMANDS = commandsOf(createProgram() as unknown as Command);

test("the reference names every command", () => {
  const missing = COMMANDS.map(([name]) => name).filter((name) => !reference.includes(`\`${name}`));
  expect(missing).toEqual([]);
});

test("the reference names every option of every command in the command's section", () => {
  const missing = COMMANDS.flatMap(([name, command]) => {
    const [, group = ""] = name.split(" ");
    const sections = reference.split("\n## ").filter((text) => text.includes(`\`lapse ${group}`));
    const text = sections.join("\n");
    return command.options
      .map((option) => option.long ?? "")
      .filter((option) => !text.includes(option))
      .map((option) => `${name} ${option}`);
  });
  expect(missing).toEqual([]);
});

test("the reference names no command that is not there", () => {
  const known = new Set(COMMANDS.map(([name]) => name));
  const named = [...reference.matchAll(/`(lapse(?: [a-z]+)+)/g)].map((match) => match[1] ?? "");
  const wrong = named.filter((text) => {
    const words = text.split(" ");
    return !words.some((_, at) => known.has(words.slice(0, at + 1).join(" ")));
  });
  expect(wrong.filter((text) => text !== "lapse")).toEqual([]);
});
