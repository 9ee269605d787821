import type { Fault, TableRule } from "@lapse/rules";
import type { Table } from "./table.ts";

/** Why a retention may not be set on a table, whoever asks. */
export type Refusal = Fault<"TABLE_NOT_FOUND" | "NOT_MANAGED" | "ENVIRONMENT_PROTECTED">;

/**
 * What forbids setting `rule` on `table`, or null. A dropped table is not there for its users. Only managed
 * tables have a retention (T22). A protected environment takes `never` and nothing else (T19).
 */
export function refusalToSet(table: Table, rule: TableRule): Refusal | null {
  if (table.state !== "live" && table.state !== "staged") {
    return {
      reason: "TABLE_NOT_FOUND",
      message: `table ${table.name} has been dropped; undrop it before setting its retention`,
    };
  }
  if (table.kind !== "managed") {
    return {
      reason: "NOT_MANAGED",
      message: `${table.name} is ${WITH_ARTICLE[table.kind]}; only managed tables have a retention`,
    };
  }
  if (table.environmentProtected && rule.kind !== "never") {
    return {
      reason: "ENVIRONMENT_PROTECTED",
      message: `environment ${table.environment} is protected, so its tables never expire; only never can be set there`,
    };
  }
  return null;
}

const WITH_ARTICLE = {
  view: "a view",
  external: "an external table",
  artifact: "an artifact",
} as const;
