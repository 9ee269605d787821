import CliTable from "cli-table3";
import { stdoutColors } from "./colors.ts";

/** Where a command's results go: for people or, with `--json`, for programs. */
export type Output = {
  readonly json: boolean;
  /** The value as JSON when asked for, else what `render` writes for people. */
  readonly show: (value: unknown, render: () => string) => void;
};

export function createOutput(json: boolean): Output {
  return {
    json,
    show(value, render) {
      const text = json ? JSON.stringify(value, null, 2) : render();
      if (text) process.stdout.write(`${text}\n`);
    },
  };
}

/** Columns aligned, no lines, headings dimmed. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const { dim } = stdoutColors();
  const grid = new CliTable({
    head: head.map((title) => dim(title)),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
    chars: NO_LINES,
  });
  for (const row of rows) grid.push(row.map(printable));
  return grid
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** One `name  value` line each, names aligned. Pairs without a value are left out. */
export function fields(pairs: readonly (readonly [string, string | null | undefined])[]): string {
  const { dim } = stdoutColors();
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => `${dim(name.padEnd(width))}  ${printable(value ?? "")}`)
    .join("\n");
}

/** Text from elsewhere must not steer the terminal: control characters are shown as their code. */
export function printable(text: string): string {
  return text.replace(CONTROL, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

// The escape that starts our own colours stays; every other control character but tab and newline does not.
const CONTROL = new RegExp(
  `[${String.fromCharCode(0)}-${String.fromCharCode(8)}${String.fromCharCode(11)}-${String.fromCharCode(26)}${String.fromCharCode(28)}-${String.fromCharCode(31)}${String.fromCharCode(127)}-${String.fromCharCode(159)}]|${String.fromCharCode(27)}(?!\\[\\d{1,3}m)`,
  "g",
);

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "",
};
