import { namespaceFault, normaliseName, tableNameFault } from "./names.ts";
import type { Table } from "./table.ts";

/** The name of a table that a project builds, whether it exists or not. */
export interface AssetName {
  readonly namespace: string;
  readonly name: string;
}

/** The version of a project that is current in an environment (T20). */
export interface Deployment {
  readonly environmentId: string;
  readonly tenant: string;
  readonly project: string;
  readonly version: string;
  readonly deployedBy: string;
  readonly deployedAt: Date;
}

/** Which project, in which version, builds a table. */
export type AssetOf = Pick<Deployment, "project" | "version">;

export const MAX_ASSETS = 10_000;
/** Of all names together in UTF-8, so that a project fits into an answer. */
export const MAX_ASSET_BYTES = 2 * 1024 * 1024;
/** Current in one environment at the same time. */
export const MAX_DEPLOYMENTS = 1_000;

const PROJECT = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
const VERSION = /^[!-~]{1,100}$/;

/** What is wrong with a project's name, or undefined. */
export function projectNameFault(project: string): string | undefined {
  if (PROJECT.test(project)) return undefined;
  return "a project's name has 1 to 63 letters, digits, _, . and -, the first a letter or digit";
}

/** What is wrong with a version, e.g. a tag or the hash of a commit, or undefined. */
export function versionFault(version: string): string | undefined {
  return VERSION.test(version) ? undefined : "a version has 1 to 100 visible ASCII characters";
}

/** `gold.orders` in its parts, or what is wrong with it. A table's name has no dot: the last one splits. */
export function parseAsset(given: string): AssetName | string {
  const text = normaliseName(given);
  const dot = text.lastIndexOf(".");
  if (dot === -1) return "an asset is a table's name with its namespace, such as gold.orders";
  const asset = { namespace: text.slice(0, dot), name: text.slice(dot + 1) };
  return namespaceFault(asset.namespace) ?? tableNameFault(asset.name) ?? asset;
}

/** What makes two lists of assets the same one: each name once, in a fixed order. */
export const assetList = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** The table as the project that builds one of its name makes it; undefined: none does. No version moves by it. */
export const withAsset = (table: Table, asset: AssetOf | undefined): Table => ({
  ...table,
  projectAsset: asset !== undefined,
  assetOf: asset ? `${asset.project} ${asset.version}` : "",
});
