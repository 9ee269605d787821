import type { Column } from "@lapse/sdk";
import { InvalidArgumentError } from "commander";

/** Names that other catalogs use for DuckDB's types. */
const ALIASES: Readonly<Record<string, string>> = {
  long: "BIGINT",
  int: "INTEGER",
  short: "SMALLINT",
  string: "VARCHAR",
  text: "VARCHAR",
  bool: "BOOLEAN",
  binary: "BLOB",
  timestamptz: "TIMESTAMP WITH TIME ZONE",
};

/** Reads `id:long` or `name:string!` (`!`: never null), added to the columns before it. */
export function columnArgument(text: string, before: readonly Column[] = []): Column[] {
  const match = /^([^:]+):([^:!]+)(!?)$/.exec(text);
  const [, name = "", type = "", bang = ""] = match ?? [];
  if (!match) {
    throw new InvalidArgumentError(
      "Write name:type, e.g. id:long, or id:long! for a required one.",
    );
  }
  const sqlType = ALIASES[type.toLowerCase()] ?? type.toUpperCase();
  return [...before, { name, type: sqlType, required: bang === "!" }];
}
