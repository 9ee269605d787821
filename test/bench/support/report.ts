import { cpus, loadavg, totalmem } from "node:os";

/** One figure of a bench: a median, and what it is measured against. */
export interface Figure {
  /** What was measured, and at what size: `activity fold, 100 events a message`. */
  readonly what: string;
  readonly value: number;
  /** Of `value` and of `baseline`: `ms`, or something per second. */
  readonly unit: string;
  /** What it is compared with, measured in the same run; null: it stands for itself. */
  readonly baseline: { readonly what: string; readonly value: number } | null;
  /** The quotient that the bar is for; null where the bar is for the value. */
  readonly ratio: number | null;
  /** What it has to be; null: shown to see how it grows. */
  readonly bar: Bar | null;
}

type Bar = { readonly least: number } | { readonly most: number };

/** What a bench run found. */
export interface Report {
  readonly at: string;
  readonly machine: string;
  readonly results: readonly BenchResult[];
}

export interface BenchResult {
  readonly name: string;
  readonly parameters: string;
  /** Load of the machine, its last minute, before and after: above the number of processors others compete. */
  readonly load: readonly [before: number, after: number];
  readonly seconds: number;
  readonly figures: readonly Figure[];
  /** Why there are none. */
  readonly error: string | null;
}

export function machine(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim()}, ${memory} GiB, ${process.platform}; Node ${process.version}`;
}

export const load = (): number => Math.round((loadavg()[0] ?? 0) * 10) / 10;

/** Whether the bar is met; null: there is none. */
function isMet({ value, ratio, bar }: Figure): boolean | null {
  if (bar === null) return null;
  const judged = ratio ?? value;
  return "least" in bar ? judged >= bar.least : judged <= bar.most;
}

/** The figures as a table in Markdown, which reads as well in a terminal. */
export function toTable({ machine: on, at, results }: Report): string {
  const header = ["what", "median", "baseline", "ratio", "bar", "met"];
  const rows = results.flatMap(({ name, figures, error }) =>
    error === null ? figures.map(toRow) : [[name, `failed: ${error}`, "", "", "", "no"]],
  );
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const loads = results.map(
    ({ name, parameters, load: [before, after], seconds }) =>
      `- ${name}: ${parameters}; ${Math.round(seconds)} s; load ${before} before, ${after} after`,
  );
  return [
    `${at}; ${on}`,
    "",
    line(header),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.map(line),
    "",
    ...loads,
  ].join("\n");
}

function toRow(figure: Figure): readonly string[] {
  const { what, value, unit, baseline, ratio, bar } = figure;
  const met = isMet(figure);
  return [
    what,
    shown(value, unit),
    baseline === null ? "" : `${shown(baseline.value, unit)} (${baseline.what})`,
    ratio === null ? "" : ratio.toFixed(2),
    bar === null ? "" : barText(bar, ratio === null ? unit : ""),
    met === null ? "" : met ? "yes" : "no",
  ];
}

const barText = (bar: Bar, unit: string): string =>
  ("least" in bar ? `≥ ${bar.least} ${unit}` : `≤ ${bar.most} ${unit}`).trim();

function shown(value: number, unit: string): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  const number = value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${number} ${unit}`;
}
