import { runCli } from "./cli.ts";
import { LocalError } from "./local-error.ts";

const events =
  "SELECT range AS id, now() - to_seconds(range) AS seen_at, random() AS v FROM range(50000)";

/** Each a command of the CLI; together something to look at in every list. */
const commands: readonly (readonly string[])[] = [
  ["env", "create", "dev"],
  ["env", "create", "prod", "--protected"],
  ["sql", events, "--into", "bronze.events", "--mode", "create"],
  ["sql", events, "--into", "bronze.trial", "--mode", "create", "--expire-after", "3"],
  [
    "sql",
    "SELECT date_trunc('hour', seen_at) AS hour, count(*) AS n FROM bronze.events GROUP BY ALL",
    "--into",
    "silver.events_per_hour",
    "--mode",
    "create",
    "--expire-after",
    "30",
  ],
  ["table", "create", "bronze.scratch", "--column", "id:long", "--expire-after", "1"],
  ["table", "create", "gold.revenue", "--column", "day:date", "--column", "eur:decimal(18,2)"],
  ["table", "retention", "gold.revenue", "--never"],
  ["env", "retention", "dev", "--days", "90", "--yes"],
];

/** Fills a new stack with a few tables; one that has environments already is left as it is. */
export async function loadSampleData(dir: string, report: (line: string) => void): Promise<void> {
  const found = await runCli(["env", "list", "--json"], dir);
  if (found.code !== 0) throw new LocalError(`The sample data was not loaded: ${found.stderr}`);
  const { items } = JSON.parse(found.stdout) as { items: readonly unknown[] };
  if (items.length > 0) {
    report("sample data: there are environments already, nothing was added");
    return;
  }
  for (const command of commands) {
    const { code, stderr } = await runCli(command, dir);
    if (code !== 0) {
      throw new LocalError(`The sample data was not loaded: lapse ${command.join(" ")}: ${stderr}`);
    }
  }
  report("sample data: environments dev and prod, with a few tables");
}
