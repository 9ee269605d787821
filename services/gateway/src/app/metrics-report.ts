import type { ActivityKind } from "./activity-messages.ts";

/** What of an Iceberg metrics report says that a table was used, and by what. */
export interface MetricsReport {
  readonly type: string;
  /** Of a commit; what is not a text is no operation. */
  readonly operation?: unknown;
  readonly metadata?: unknown;
}

/** Longest name of an engine in a source. */
const LONGEST_ENGINE = 40;

/**
 * The use that a report tells of; undefined: none that is known. A scan is a read, a commit a write; a commit
 * that only rewrites files is maintenance (T16). A commit that does not say what it did counts as a write, which
 * keeps the table longer.
 */
export function useOf({ type, operation }: MetricsReport): ActivityKind | undefined {
  // As Iceberg's own parser compares them.
  switch (type.toLowerCase().replaceAll("_", "-")) {
    case "scan-report":
      return "read";
    case "commit-report":
      return isReplace(operation) ? "maintained" : "written";
    default:
      return undefined;
  }
}

/** Which system reports, e.g. `iceberg:spark`; `iceberg` where it does not say. */
export function sourceOf({ metadata }: MetricsReport): string {
  const engine = property(metadata, "engine-name");
  if (typeof engine !== "string") return "iceberg";
  const slug = engine
    .slice(0, LONGEST_ENGINE)
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return slug === "" ? "iceberg" : `iceberg:${slug}`;
}

const isReplace = (operation: unknown): boolean =>
  typeof operation === "string" && operation.toLowerCase() === "replace";

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
