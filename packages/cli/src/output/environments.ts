import type { Environment, EnvironmentRetention, Namespace, Project } from "@lapse/sdk";
import { fields, table } from "./print.ts";
import { instantText } from "./time.ts";
import { quantity } from "./words.ts";

export function environmentTable(items: readonly Environment[]): string {
  if (items.length === 0) {
    return "There are no environments that you may see. Create one: lapse env create dev";
  }
  return table(
    ["name", "protected", "retention", "created by"],
    items.map((item) => [
      item.name,
      item.protected ? "yes" : "no",
      retentionText(item, (days) => quantity(days, "day")),
      item.created_by,
    ]),
  );
}

export function environmentFields(environment: Environment): string {
  const setBy = environment.retention_set_by ?? "–";
  return fields([
    ["name", environment.name],
    ["protected", environment.protected ? "yes, its tables never expire" : "no"],
    [
      "retention",
      retentionText(environment, (days) => `${quantity(days, "day")}, set by ${setBy}`),
    ],
    ["you may", environment.rights.join(", ")],
    ["table bucket", environment.table_bucket],
    ["created", `${instantText(environment.created_at)} by ${environment.created_by}`],
    ["id", environment.id],
  ]);
}

export function environmentRetentionFields(name: string, retention: EnvironmentRetention): string {
  const rule =
    retention.days === null
      ? "none: only tables with a retention of their own expire"
      : `${quantity(retention.days, "day")} after a table's last activity`;
  return fields([
    ["environment", name],
    ["retention", rule],
    ["before", formerDays(retention)],
    ["set by", retention.set_by],
    ["set at", retention.set_at ? instantText(retention.set_at) : null],
  ]);
}

export function namespaceTable(items: readonly Namespace[], environment: string): string {
  if (items.length === 0) return `No namespaces in ${environment}.`;
  return table(
    ["namespace", "created by", "created"],
    items.map((item) => [item.path, item.created_by, instantText(item.created_at)]),
  );
}

export function projectTable(items: readonly Project[], environment: string): string {
  if (items.length === 0) return `No project is deployed in ${environment}.`;
  return table(
    ["project", "version", "keeps", "deployed by", "deployed"],
    items.map((item) => [
      item.name,
      item.version,
      quantity(item.assets.length, "table"),
      item.deployed_by,
      instantText(item.deployed_at),
    ]),
  );
}

function retentionText(environment: Environment, known: (days: number) => string): string {
  if (environment.retention_unknown) return "could not be told now; ask again";
  return environment.retention_days === null ? "none" : known(environment.retention_days);
}

function formerDays({ previous_days: days }: EnvironmentRetention): string | null {
  if (days === undefined) return null;
  return days === null ? "none" : quantity(days, "day");
}
